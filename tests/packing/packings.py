"""Blocks and memories to draw, and what is wrong with a packing, the obvious way."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from hybridalloc.packing.block import Block
from hybridalloc.target import MemorySpace

SCRATCH = (0, 3, 0, 0, 8, 0, 0, 1)
"""Bytes at each instruction."""


def memory(
    capacity: int | None,
    reserved: tuple[tuple[int, int], ...] = (),
    alignment: int = 2,
) -> MemorySpace:
    """Fast memory, of which only the addresses matter."""
    return MemorySpace("fast", 1.0, 1.0, capacity, alignment, reserved)


@st.composite
def memories(draw: st.DrawFn) -> MemorySpace:
    """Little memory, perhaps with a reserved range."""
    low = draw(st.integers(0, 24))
    ranges = st.sampled_from([(), (), ((low, low + 3),)])
    alignment = draw(st.sampled_from([1, 2, 4]))
    return memory(draw(st.integers(4, 32)), draw(ranges), alignment)


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    """One rectangle, several spans of one, or parts that start one by one."""
    size, start = draw(st.integers(0, 8)), draw(st.integers(0, 7))
    end = draw(st.integers(start + 1, 10))
    rectangles = [(0, size, start, end)]
    if draw(st.booleans()):
        again = draw(st.integers(end, 12))
        rectangles.append((0, size, again, again + draw(st.integers(1, 3))))
    if draw(st.booleans()):
        higher = size + draw(st.integers(1, 6))
        rectangles.append((size, higher, draw(st.integers(start, end - 1)), end))
    fixed = draw(st.sampled_from([None] * 5 + [0, 4, 6]))
    return Block(tuple(rectangles), fixed)


def clashes(
    packed: Sequence[Block],
    offsets: Sequence[int | None],
    space: MemorySpace,
    scratch: Sequence[int] = SCRATCH,
) -> list[str]:
    """What is wrong with a packing, byte by byte and instruction by instruction."""
    wrong, owner = [], dict[tuple[int, int], int]()
    for number, (block, offset) in enumerate(zip(packed, offsets, strict=True)):
        if offset is None:
            continue
        if offset % space.alignment or block.offset not in (None, offset):
            wrong.append(f"block {number} is at {offset}")
        if space.capacity is not None and offset + block.size > space.capacity:
            wrong.append(f"block {number} ends above capacity")
        for low, high, start, end in block.rectangles:
            for t in range(start, end):
                for byte in range(offset + low, offset + high):
                    if owner.setdefault((byte, t), number) != number:
                        wrong.append(f"block {number} meets {owner[byte, t]}")
                    if t < len(scratch) and byte < scratch[t]:
                        wrong.append(f"block {number} is in scratch")
                    if any(first <= byte < last for first, last in space.reserved):
                        wrong.append(f"block {number} is in a reserved range")
    return wrong
