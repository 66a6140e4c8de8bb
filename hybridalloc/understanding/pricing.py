"""Whether a buffer's stays in fast memory are worth the space that they take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.understanding.explanation import Explanation
from hybridalloc.understanding.serving import Serving

if TYPE_CHECKING:
    from hybridalloc.bounds.bound import Prices


@dataclass(frozen=True, slots=True)
class Stay:
    """A stay in fast memory, of the map or missed by it, and what its space costs."""

    start: int
    """It lasts for the instructions [start, end)."""
    end: int
    held: bool
    """Whether the map has it."""
    price_s: float
    """Seconds of a run that others could save with that space, by its price."""
    saving_s: float
    """Seconds of a run that its accesses save there, or would; copies apart."""


def stays(
    problem: Problem, memory_map: MemoryMap, found: Explanation, prices: Prices
) -> tuple[Stay, ...]:
    """What each stay of a buffer costs and saves, in the order of the schedule.

    The price of a stay is, over its instructions, what a byte of fast memory is worth
    then times the bytes that it holds.

    Args:
        problem: The program, the target and the cost model.
        memory_map: A valid map of it.
        found: The explanation of the buffer under that map.
        prices: Those of a lower bound of the problem.
    """
    before = list(accumulate(map(float, prices.capacity), initial=0.0))
    held = _held(problem, memory_map, found, before)
    return tuple(sorted((*held, *_missed(found, before)), key=lambda x: x.start))


def _held(
    problem: Problem, memory_map: MemoryMap, found: Explanation, before: list[float]
) -> Iterator[Stay]:
    serving = Serving(problem, memory_map)
    for x in (place.allocation for place in found.places):
        if x is not None:
            price_s = sum(
                (before[x.end] - before[start]) * (high - low)
                for low, high, start in x.parts(found.size)
            )
            yield Stay(x.start, x.end, True, price_s, serving.worth_of(x))


def _missed(found: Explanation, before: list[float]) -> Iterator[Stay]:
    """From the first to the last access of each stretch: the shortest stay.

    There is none of a buffer that can never be in fast memory.
    """
    if found.barrier is not None:
        return
    for miss in found.misses:
        start = found.accesses[miss.first].instruction
        end = found.accesses[miss.last].instruction + 1
        price_s = (before[end] - before[start]) * found.size
        yield Stay(start, end, False, price_s, miss.saving_s)
