"""When to prefetch a buffer, in how many parts, and to where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hybridalloc.baselines.msa.assignment import Assignment, Failure
from hybridalloc.baselines.msa.copy_resource import AsyncCopy
from hybridalloc.baselines.msa.heap import Part
from hybridalloc.memory_map import Slice
from hybridalloc.program import Loop

SLICED_COPY_FACTOR = 1.8
"""How much more bandwidth the parts of a copy are taken to need than the whole."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be prefetched, and when it is needed."""

    buffer: int
    earliest: int
    """The first time after which its copy may be issued."""
    end: int
    """The time before which it is complete."""
    keep: Sequence[int]
    """Times until which its place would be kept, ascending; at least the first."""
    body: Loop | None
    """The loop body that the copy must lie in."""
    saved: float
    """Seconds by which its use is faster for it."""
    extra: int
    """How many more copies than usual may overlap."""


@dataclass(frozen=True, slots=True)
class Prefetch:
    """A copy that is possible."""

    offset: int
    parts: tuple[Part, ...]
    """In order of address."""
    copies: tuple[AsyncCopy, ...]

    @property
    def start(self) -> int:
        """The point at which its first part is issued."""
        return min(issue for _, issue in self.parts)

    @property
    def slices(self) -> tuple[Slice, ...]:
        """Its parts, if there are several."""
        return tuple(Slice(*part) for part in self.parts) if self.parts[1:] else ()


def find_prefetch(shared: Assignment, wish: Wish) -> Prefetch | Failure:
    """The first copy that is possible; in parts at any time rather than whole.

    Source: openxla/xla, ``MsaAlgorithm::Prefetch`` in
    ``memory_space_assignment/algorithm.cc``.
    """
    size = shared.problem.program.buffers[wish.buffer].size
    in_parts, whole = _is_sliced(shared, size), None
    failures, full = Failure.NONE, wish.earliest - 1
    for start in shared.picker.starts(
        size, wish.earliest, wish.end, wish.body, wish.saved
    ):
        if start <= full:
            failures |= Failure.OUT_OF_MEMORY
            continue
        for parts in _cuts(shared, wish, start) if in_parts else ():
            found = _try(shared, wish, parts)
            if isinstance(found, Prefetch):
                return found
            failures |= found
        if whole is None:
            found = _try(shared, wish, ((size, start + 1),))
            if isinstance(found, Failure):
                failures |= found
                full = start if found is Failure.OUT_OF_MEMORY else full
            elif not in_parts:
                return found
            else:
                whole = found
    return whole or failures


def _is_sliced(shared: Assignment, size: int) -> bool:
    return size >= shared.options.sliced_prefetch_min_bytes and _most_slices(shared) > 1


def _most_slices(shared: Assignment) -> int:
    most = shared.problem.target.copy_engine.max_slices
    return min(most, shared.options.sliced_prefetch_max_slices)


def _cuts(shared: Assignment, wish: Wish, start: int) -> Iterator[tuple[Part, ...]]:
    """The ways to copy in equal parts: the lowest first, or the highest."""
    size = shared.problem.program.buffers[wish.buffer].size
    unit = shared.problem.target.fast.alignment
    sizes = _equal_parts(size, _most_slices(shared), unit)
    issues = shared.picker.spread(start, wish.end, len(sizes), wish.body)
    if len(set(issues)) > 1:
        yield tuple(zip(sizes, issues, strict=True))
        yield tuple(zip(sizes, issues[::-1], strict=True))


def _equal_parts(size: int, count: int, alignment: int) -> list[int]:
    """Sizes of parts that are whole units of the alignment, but for the last."""
    units = -(-size // alignment)
    each = -(-units // count) * alignment
    whole, rest = divmod(size, each)
    return [each] * whole + [rest] * (rest > 0)


def _try(shared: Assignment, wish: Wish, parts: tuple[Part, ...]) -> Prefetch | Failure:
    """The copy in these parts, if there is bandwidth and a place for it."""
    factor = SLICED_COPY_FACTOR if len(parts) > 1 else 1.0
    copies = tuple(
        (issue - 1, wish.end, factor * shared.picker.copy_s(size))
        for size, issue in parts
    )
    first = min(start for start, _, _ in copies)
    prefetches = shared.prefetches
    if not prefetches.may_overlap(len(parts), first, wish.end, wish.extra):
        return Failure.OUT_OF_COPIES
    if not prefetches.fits(*sorted(copies)):
        return Failure.OUT_OF_COPIES
    in_order = shared.options.enforce_prefetch_fifo_order
    if in_order and not prefetches.ordered(first, wish.end):
        return Failure.OUT_OF_COPIES
    offset = shared.heap.best_fit(wish.buffer, parts, wish.keep)
    if offset is None:
        return Failure.OUT_OF_MEMORY
    return Prefetch(offset, parts, copies)
