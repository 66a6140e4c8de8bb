"""What there is to say about one buffer under one map."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hybridalloc.memory_map import Allocation, MemoryMap


class Barrier(StrEnum):
    """Why a buffer can never be in fast memory."""

    EXCLUDED = "excluded"
    """It is pinned to slow memory."""
    TOO_LARGE = "too large"
    """It is larger than fast memory."""
    EMPTY = "empty"
    """It has no bytes."""


class Limit(StrEnum):
    """Why it makes no difference to an instruction where a buffer is."""

    NO_BYTES = "no bytes"
    """The access moves none."""
    COMPUTE = "compute"
    """The computation takes longer than all memory traffic, either way."""
    ESTIMATE = "estimate"
    """The compiler's estimate is the same, either way."""


class Verdict(StrEnum):
    """Why a stretch of accesses is not served from fast memory."""

    BARRED = "barred"
    """The buffer can never be there."""
    NOTHING_TO_GAIN = "nothing to gain"
    """The instructions would not take less time."""
    ROOM = "room"
    """There is room, and the program would be faster: the map does without."""
    COPIES = "copies"
    """There is room, but the copies would cost more than the accesses gain."""
    RULES = "rules"
    """There is room, but no simple placement is valid."""
    TAKEN = "taken"
    """Others are in the way, and trading them for this one would not pay."""
    TRADE = "trade"
    """Others are in the way, and the program would be faster with this one instead."""
    FIXED = "fixed"
    """What cannot move is in the way: reserved bytes, scratch, pinned buffers, or
    another stay of the same buffer."""


@dataclass(frozen=True, slots=True)
class AccessEffect:
    """One access, and what fast memory does or would do for it."""

    instruction: int
    name: str
    """The instruction's."""
    runs: int
    """How often it happens in one run of the program."""
    read_bytes: int
    """Each time."""
    write_bytes: int
    """Each time."""
    whole: bool
    """Whether it overwrites every byte."""
    fast: bool
    """Whether the map serves it from fast memory."""
    elapsed_s: float
    """Seconds that the instruction takes each time, under the map."""
    saving_s: float
    """Seconds of one run, all other accesses as in the map: what would be lost from
    slow memory if it is fast, and gained in fast memory if it is slow. Negative where
    an estimate is higher with the buffer in fast memory."""
    limit: Limit | None
    """Why the saving is 0, if it is."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the buffer is during the instructions [start, end)."""

    start: int
    end: int
    allocation: Allocation | None
    """In fast memory: the allocation. ``None`` for slow memory alone."""
    accesses: int
    """How many accesses it serves."""


@dataclass(frozen=True, slots=True)
class Blocker:
    """An allocation that stands in the way of a buffer."""

    allocation: Allocation
    index: int
    """Into the allocations of the map."""
    name: str
    """The buffer's."""
    size: int
    """Bytes."""
    worth_s: float
    """Seconds of one run that its accesses would take longer from slow memory, were it
    alone to go; stalls apart."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The map with more accesses in a row in fast memory: valid, and simulated."""

    first: int
    """The first of the accesses, as an index into ``Explanation.accesses``."""
    last: int
    """The last of them."""
    allocations: tuple[Allocation, ...]
    """What is added at the map's end."""
    removed: tuple[int, ...]
    """What is taken out, as indices into the map's allocations: those in the way, and
    the stay that one of ``allocations`` extends."""
    time_s: float
    """Seconds of one run."""
    change_s: float
    """Seconds against the map; negative if faster."""
    stall_change_s: float
    """Seconds, the part of that which is spent in stalls."""
    moved_change_bytes: int
    """How many more bytes copies move in one run; negative if fewer."""
    copy_s: float
    """Seconds that its copies take each time, if nothing else uses slow memory."""

    def apply(self, memory_map: MemoryMap) -> MemoryMap:
        """The map with this change."""
        return changed(memory_map, self.removed, self.allocations)


def changed(
    memory_map: MemoryMap,
    removed: tuple[int, ...],
    added: tuple[Allocation, ...] = (),
) -> MemoryMap:
    """A map without some allocations, by index, and with others at its end."""
    gone = set(removed)
    kept = (a for i, a in enumerate(memory_map.allocations) if i not in gone)
    return MemoryMap((*kept, *added))


@dataclass(frozen=True, slots=True)
class Miss:
    """A stretch of accesses in a row that are served from slow memory, and why."""

    first: int
    """The first of them, as an index into ``Explanation.accesses``."""
    last: int
    """The last of them."""
    saving_s: float
    """Seconds of one run that they would save together in fast memory, copies apart."""
    verdict: Verdict
    placed: Trial | None = None
    """The best placement of all of them where there is room."""
    part: Trial | None = None
    """If not all of them fit: the best placement of some of them, if it gains."""
    violation: str | None = None
    """What is wrong with the placement that came closest, if none is valid."""
    blockers: tuple[Blocker, ...] = ()
    """The allocations that are cheapest to do without and whose removal leaves room."""
    blockers_loss_s: float | None = None
    """Seconds that the run takes longer without them, copies and stalls included."""
    trade: Trial | None = None
    """The best placement without them."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a buffer is where it is under a map; seconds are simulated."""

    program: str
    target: str
    cost_model: str
    capacity_bytes: int
    buffer: int
    """The index into ``Program.buffers``."""
    name: str
    size: int
    """Bytes."""
    is_input: bool
    is_output: bool
    cross_program: bool
    """Whether it could be a cross-program prefetch; ``misses`` never try that."""
    memory: str
    """``any``, or the memory that it is pinned to."""
    barrier: Barrier | None
    time_s: float
    """Seconds of one run under the map."""
    stall_s: float
    """Seconds of it in which the program waits for copies."""
    without_s: float | None
    """Seconds of one run with this buffer always in slow memory and all else as it is;
    ``None`` if it is there already, or must not be."""
    accesses: tuple[AccessEffect, ...]
    places: tuple[Place, ...]
    """In order of start; a buffer may have two at one time."""
    misses: tuple[Miss, ...]

    @property
    def saving_s(self) -> float | None:
        """Seconds of one run that fast memory saves, copies and stalls included."""
        return None if self.without_s is None else self.without_s - self.time_s
