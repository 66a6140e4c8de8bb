"""The memory map, a solver's answer: which buffer is in fast memory, when and where.

A *point* is the moment just before the instruction of that index; point ``T``, for
a program of ``T`` instructions, is the end of the run (docs/model.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate

from hybridalloc.program import Program

Rectangle = tuple[int, int, int, int]
"""First byte, last byte + 1, start, end."""


class Origin(StrEnum):
    """How an allocation gets its content."""

    PRODUCED = "produced"
    """The instruction at ``start`` writes the whole buffer there."""
    PREFETCHED = "prefetched"
    """A copy from slow memory, issued at ``start`` and due at ``ready``."""
    CROSS_PROGRAM = "cross_program"
    """The cross-program prefetch: from point 0 content of the previous run, or, in
    the tail of the program, a copy for the next run that is due at its end."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a prefetch that is copied on its own; its parts follow in address."""

    size: int
    """Bytes."""
    issue: int
    """The point at which its copy is issued; it holds its space from then on."""

    def __post_init__(self) -> None:
        if self.size <= 0 or self.issue < 0:
            raise ValueError(
                f"slice: expected size > 0 and issue >= 0, got size {self.size}, "
                f"issue {self.issue}"
            )


@dataclass(frozen=True, slots=True)
class Eviction:
    """A copy back to slow memory."""

    issue: int
    """The point at which it is issued."""
    due: int
    """The point by which it is complete."""

    def __post_init__(self) -> None:
        if not 0 <= self.issue <= self.due:
            raise ValueError(
                f"eviction: expected 0 <= issue <= due, got issue {self.issue}, "
                f"due {self.due}"
            )


@dataclass(frozen=True, slots=True)
class Allocation:
    """A stay of one buffer at one offset of fast memory, during [start, end)."""

    buffer: int
    """Index into ``Program.buffers``."""
    offset: int | None
    """Bytes from the start of fast memory; missing only inside a solver."""
    start: int
    end: int
    origin: Origin = Origin.PRODUCED
    ready: int = -1
    """Accesses from this point on are served from fast memory; ``start`` unless a
    copy says otherwise."""
    slices: tuple[Slice, ...] = ()
    """The parts of a sliced prefetch in order of address; empty if it is one copy."""
    eviction: Eviction | None = None

    def __post_init__(self) -> None:
        if self.ready == -1:
            object.__setattr__(self, "ready", self.start)
        what = f"allocation of buffer {self.buffer}"
        if self.buffer < 0 or (self.offset is not None and self.offset < 0):
            raise ValueError(f"{what}: negative buffer or offset {self.offset}")
        if not 0 <= self.start < self.end:
            raise ValueError(
                f"{what}: expected 0 <= start < end, got start {self.start}, "
                f"end {self.end}"
            )
        if not self.start <= self.ready <= self.end:
            raise ValueError(
                f"{what}: ready {self.ready} is not in [{self.start}, {self.end}]"
            )
        if self.origin is Origin.PRODUCED and self.ready != self.start:
            raise ValueError(
                f"{what}: produced at {self.start}, yet ready at {self.ready}"
            )
        self._check_copies(what)

    def _check_copies(self, what: str) -> None:
        if self.slices and self.origin is not Origin.PREFETCHED:
            raise ValueError(f"{what}: slices, yet its origin is {self.origin}")
        issues = [piece.issue for piece in self.slices]
        if issues and (min(issues) != self.start or max(issues) > self.ready):
            raise ValueError(
                f"{what}: slices issued at {issues}, expected the first at start "
                f"{self.start} and all by ready {self.ready}"
            )
        if self.eviction and not (
            self.start < self.eviction.issue and self.eviction.due <= self.end
        ):
            raise ValueError(
                f"{what}: eviction [{self.eviction.issue}, {self.eviction.due}] is not "
                f"within ({self.start}, {self.end}]"
            )

    @property
    def has_copy(self) -> bool:
        """Whether its content is copied from slow memory during the run."""
        return self.origin is Origin.PREFETCHED or (
            self.origin is Origin.CROSS_PROGRAM and self.start > 0
        )

    def parts(self, size: int) -> Iterator[tuple[int, int, int]]:
        """The rectangles it occupies, as (first byte, last byte + 1, start).

        Args:
            size: The buffer's size in bytes.

        Raises:
            ValueError: The allocation has no offset.

        >>> sliced = Allocation(0, 4096, 3, 9, Origin.PREFETCHED, ready=6,
        ...                     slices=(Slice(4096, 5), Slice(1000, 3)))
        >>> list(sliced.parts(5096))
        [(4096, 8192, 5), (8192, 9192, 3)]
        """
        if self.offset is None:
            raise ValueError(f"allocation of buffer {self.buffer} has no offset")
        if not self.slices:
            yield self.offset, self.offset + size, self.start
            return
        ends = accumulate(piece.size for piece in self.slices)
        for piece, end in zip(self.slices, ends, strict=True):
            yield self.offset + end - piece.size, self.offset + end, piece.issue

    def rectangles(self, size: int) -> Iterator[Rectangle]:
        """The rectangles that it occupies: ``parts``, each until the end.

        Args:
            size: The buffer's size in bytes.

        Raises:
            ValueError: The allocation has no offset.
        """
        for low, high, start in self.parts(size):
            yield low, high, start, self.end


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """The allocations of a program; copies issued at one point queue in this order."""

    allocations: tuple[Allocation, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.allocations)

    def peak_bytes(self, program: Program) -> int:
        """The highest address that any allocation uses, in bytes."""
        return max(
            (
                part_end
                for allocation in self.allocations
                for _, part_end, _ in allocation.parts(
                    program.buffers[allocation.buffer].size
                )
            ),
            default=0,
        )
