"""Trying placements: the best that is valid, by the word of simulator and checker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hybridalloc.checker import check
from hybridalloc.memory_map import Allocation
from hybridalloc.understanding.drafts import Draft, Drafts, Stretch
from hybridalloc.understanding.explanation import Trial, changed
from hybridalloc.understanding.setting import Room, Setting

_MOST_CHECKED = 4
"""Of the placements that fit, how many of the fastest are checked."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of trying to place a stretch of accesses."""

    trial: Trial | None
    """The fastest valid placement found."""
    violation: str | None
    """What is wrong with the fastest one, if none is valid."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Where placements are tried, and what they are measured against."""

    origin: Setting
    """The map that is explained."""
    setting: Setting
    """That map without ``removed``."""
    room: Room
    removed: tuple[int, ...] = ()
    """Allocations of the origin's map, by index."""

    def without(self, removed: tuple[int, ...]) -> Ground:
        """The same ground with some allocations out of the way."""
        smaller = self.setting.without(removed)
        return Ground(
            self.origin, smaller, self.room.without(smaller, removed), removed
        )


def place(ground: Ground, stretch: Stretch) -> Tried:
    """Find the fastest valid simple placement of a stretch of accesses.

    Args:
        ground: The map to add it to.
        stretch: The accesses; the map serves all of them from slow memory.
    """
    trials = sorted(_trials(ground, stretch), key=lambda trial: _rank(ground, trial))
    violation = None
    for trial in trials[:_MOST_CHECKED]:
        found = check(ground.origin.problem, trial.apply(ground.origin.memory_map))
        if not found:
            return Tried(trial, None)
        violation = violation or found[0].message
    return Tried(None, violation)


def _rank(ground: Ground, trial: Trial) -> tuple[int, int, int]:
    """By time; if tied, by bytes moved, then by how long it is in fast memory."""
    steps = round(trial.change_s / (ground.origin.rounding_s or 1.0))
    length = sum(x.end - x.start for x in trial.allocations)
    return steps, trial.moved_change_bytes, length


def _trials(ground: Ground, stretch: Stretch) -> Iterator[Trial]:
    """The placements that fit, valid or not."""
    buffer = ground.setting.problem.program.buffers[stretch.buffer]
    for draft in Drafts(ground.setting, stretch).all():
        wanted = buffer
        if draft.offset is not None:
            wanted = replace(buffer, offset=draft.offset)
        offset = ground.room.offset(wanted, draft.spans, draft.extends)
        if offset is not None:
            yield _simulated(ground, stretch, draft, offset)


def _simulated(ground: Ground, stretch: Stretch, draft: Draft, offset: int) -> Trial:
    origin = ground.origin
    removed = ground.removed
    if draft.extends is not None:
        removed = (*removed, _former(ground, draft.extends))
    added: tuple[Allocation, ...] = (replace(draft.allocation, offset=offset),)
    found = origin.simulator.simulate(changed(origin.memory_map, removed, added))
    stall_s = found.stall_s - origin.simulation.stall_s
    return Trial(
        first=stretch.first,
        last=stretch.last,
        allocations=added,
        removed=removed,
        time_s=found.time_s,
        change_s=origin.change_s(found),
        stall_change_s=stall_s if abs(stall_s) > origin.rounding_s else 0.0,
        moved_change_bytes=found.moved_bytes - origin.simulation.moved_bytes,
        copy_s=_copy_s(origin, added[0]),
    )


def _copy_s(setting: Setting, allocation: Allocation) -> float:
    """Seconds that the copies of an allocation take each time."""
    buffer = setting.problem.program.buffers[allocation.buffer]
    copied_in = setting.copy_s(buffer) if allocation.has_copy else 0.0
    evicted = setting.copy_s(buffer, evicted=True) if allocation.eviction else 0.0
    return copied_in + evicted


def _former(ground: Ground, index: int) -> int:
    """The index in the origin's map of an allocation of the setting's."""
    gone = set(ground.removed)
    kept = [i for i in range(len(ground.origin.memory_map)) if i not in gone]
    return kept[index]
