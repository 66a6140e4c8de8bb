"""The rules about which buffers are in fast memory, and where they lie."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hybridalloc.checker.facts import Facts, Placed
from hybridalloc.checker.overlaps import Rectangle, overlapping
from hybridalloc.checker.violation import Rule, Violation
from hybridalloc.memory_map import Origin
from hybridalloc.program import Memory


def buffer(facts: Facts) -> Iterator[Violation]:
    """The buffer exists and may be in fast memory; a fixed offset is kept."""
    count = len(facts.program.buffers)
    for index, allocation in enumerate(facts.memory_map.allocations):
        if allocation.buffer >= count:
            message = (
                f"allocation {index} is of buffer {allocation.buffer}, but the program "
                f"has only {count} buffers"
            )
            yield Violation(Rule.BUFFER, message, (index,))
    for placed in facts.allocations:
        fixed, given = placed.buffer.offset, placed.allocation.offset
        if placed.buffer.memory is Memory.SLOW:
            message = f"{placed} is in fast memory, but the buffer is pinned to slow"
            yield Violation(Rule.BUFFER, message, (placed.index,))
        if None not in (fixed, given) and fixed != given:
            message = f"{placed} is not at the buffer's fixed offset {fixed}"
            yield Violation(Rule.BUFFER, message, (placed.index,))


def pinned(facts: Facts) -> Iterator[Violation]:
    """Every access of a buffer pinned to fast memory is served from there."""
    for buffer, uses in zip(facts.program.buffers, facts.program.uses, strict=True):
        if buffer.memory is not Memory.FAST:
            continue
        for use in uses:
            if not facts.served_fast(use):
                message = (
                    f"buffer {buffer.name} is pinned to fast memory, but "
                    f"{facts.instruction(use.instruction)} accesses it in slow memory"
                )
                yield Violation(Rule.PINNED, message, (), use.instruction)


def range_(facts: Facts) -> Iterator[Violation]:
    """Everything lies within [0, T]; a produced one starts at a whole access."""
    for placed in facts.allocations:
        start, end = placed.allocation.start, placed.allocation.end
        if end > facts.end:
            message = f"{placed} ends after the last point, {facts.end}"
            yield Violation(Rule.RANGE, message, (placed.index,))
        if placed.allocation.origin is not Origin.PRODUCED or start >= facts.end:
            continue
        first = facts.first_use(placed.allocation.buffer, start, start + 1)
        if first is None or not first.access.whole:
            message = (
                f"{placed} has no copy, but {facts.instruction(start)} does not "
                f"write the whole buffer"
            )
            yield Violation(Rule.RANGE, message, (placed.index,), start)


def offset(facts: Facts) -> Iterator[Violation]:
    """The offset is given and aligned; the allocation ends within capacity."""
    alignment, capacity = facts.target.fast.alignment, facts.target.capacity
    for placed in facts.allocations:
        given = placed.allocation.offset
        if given is None:
            message = f"{placed}: every allocation of a map must have one"
            yield Violation(Rule.OFFSET, message, (placed.index,))
            continue
        if given % alignment:
            message = f"{placed} is not at a multiple of the alignment, {alignment}"
            yield Violation(Rule.OFFSET, message, (placed.index,))
        top = max(high for _, high, _ in placed.parts())
        if top > capacity:
            message = f"{placed} ends at byte {top}, above the capacity of {capacity}"
            yield Violation(Rule.OFFSET, message, (placed.index,))


def reserved(facts: Facts) -> Iterator[Violation]:
    """No rectangle touches a reserved range or the scratch of its instructions."""
    scratch = np.array([x.scratch_bytes for x in facts.program.instructions], np.int64)
    for rectangle in _rectangles(facts):
        yield from _in_reserved_range(facts, rectangle)
        yield from _in_scratch(facts, rectangle, scratch)


def _in_reserved_range(facts: Facts, rectangle: Rectangle) -> Iterator[Violation]:
    for low, high in facts.target.fast.reserved:
        if low < rectangle.high and rectangle.low < high:
            message = (
                f"{rectangle.placed} has bytes [{rectangle.low}, {rectangle.high}), "
                f"which touch the reserved range [{low}, {high})"
            )
            yield Violation(Rule.RESERVED, message, (rectangle.placed.index,))


def _in_scratch(
    facts: Facts,
    rectangle: Rectangle,
    scratch: NDArray[np.int64],
) -> Iterator[Violation]:
    """The instruction with the most scratch tells for all that a rectangle spans."""
    spanned = scratch[rectangle.start : rectangle.end]
    if spanned.size == 0 or spanned.max() <= rectangle.low:
        return
    t = rectangle.start + int(spanned.argmax())
    message = (
        f"{rectangle.placed} has bytes [{rectangle.low}, {rectangle.high}), but "
        f"{facts.instruction(t)} needs [0, {scratch[t]}) as scratch"
    )
    yield Violation(Rule.RESERVED, message, (rectangle.placed.index,), t)


def overlap(facts: Facts) -> Iterator[Violation]:
    """The rectangles of two allocations are disjoint."""
    reported = set()
    for one, two in overlapping(_rectangles(facts)):
        pair = (one.placed.index, two.placed.index)
        indices = (min(pair), max(pair))
        if indices in reported:
            continue
        reported.add(indices)
        low, high = max(one.low, two.low), min(one.high, two.high)
        start, end = max(one.start, two.start), min(one.end, two.end)
        message = (
            f"{one.placed} and {two.placed} share bytes [{low}, {high}) during "
            f"instructions [{start}, {end})"
        )
        yield Violation(Rule.OVERLAP, message, indices, start)


def slices(facts: Facts) -> Iterator[Violation]:
    """Slices add up to the buffer, are aligned, and are not too many."""
    for placed in facts.allocations:
        if placed.allocation.slices:
            for problem in _wrong_slices(facts, placed):
                yield Violation(Rule.SLICES, f"{placed} {problem}", (placed.index,))


def _wrong_slices(facts: Facts, placed: Placed) -> Iterator[str]:
    sizes = [piece.size for piece in placed.allocation.slices]
    alignment = facts.target.fast.alignment
    most = facts.target.copy_engine.max_slices
    if sum(sizes) != placed.buffer.size:
        yield (
            f"has slices of {sum(sizes)} bytes in all, expected the buffer's "
            f"{placed.buffer.size}"
        )
    for number, size in enumerate(sizes[:-1]):
        if size % alignment:
            yield (
                f"has a slice {number} of {size} bytes, expected a multiple of the "
                f"alignment, {alignment}"
            )
    if len(sizes) > most:
        yield f"has {len(sizes)} slices, but the target allows {most}"


def _rectangles(facts: Facts) -> Iterator[Rectangle]:
    """What each allocation occupies; a part that is empty occupies nothing."""
    for placed in facts.allocations:
        for low, high, start in placed.parts():
            if low < high and start < placed.allocation.end:
                yield Rectangle(placed, low, high, start, placed.allocation.end)
