"""When copies are issued and due in the game: late, and without a longer stall."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice

from hybridalloc.allocating import allocate, allocate_cross_program
from hybridalloc.game.game import Game
from hybridalloc.game.growth import Grown
from hybridalloc.game.held import Held, Holding
from hybridalloc.memory_map import Allocation
from hybridalloc.packing.space import Span

TOLERANCE = 1e-12
"""Seconds by which stalls may seem to differ and still be the same: rounding."""
REACH = 256
"""Points at which a copy that is waited for may be issued, at most."""


def prefetched(
    game: Game, held: tuple[Held, ...], grown: Grown, earliest: int
) -> Held | None:
    """A stay that begins with a prefetch, not yet placed.

    It is issued at the latest point at which stalls do not grow: neither waits the
    program for it, nor longer for those decided earlier.

    Args:
        game: Which.
        held: What is held already.
        grown: The stay.
        earliest: The first point at which the slow copy is valid.

    Returns:
        Nothing if there is no such point.
    """
    base = _uncopied_stall_s(game, held, grown)
    for copied in _issues(game, held, grown, earliest):
        if game.stall_s((*held, copied)) <= base + TOLERANCE:
            return copied
    return None


def awaited(
    game: Game, held: tuple[Held, ...], grown: Grown, earliest: int
) -> Iterator[tuple[int, Held]]:
    """The same, but the program may wait for it; and what that costs.

    First issued at the latest point at which stalls are as short as at the earliest;
    then as it is needed, so that it takes the least space. The cost is by how much
    stalls grow less what the longest stay that may come of it would save, in units of
    ``TOLERANCE``.
    """
    issued = list(islice(_issues(game, held, grown, earliest), REACH))
    if not issued:
        return
    base = _uncopied_stall_s(game, held, grown)
    longest = _uncopied(game.growth.stays[grown.longest])
    saved_s = game.simulate(held).time_s - game.simulate((*held, longest)).time_s
    latest = _first_as_short(game, [(*held, x) for x in issued])
    for copied in (issued[latest], issued[0]):
        cost_s = game.stall_s((*held, copied)) - base - saved_s
        yield math.floor(cost_s / TOLERANCE + 0.5), copied


def _uncopied(grown: Grown) -> Held:
    """A stay as if it needed no copy."""
    stay = grown.stay
    return Held(grown, (Allocation(stay.buffer, 0, stay.start, stay.end),))


def _uncopied_stall_s(game: Game, held: tuple[Held, ...], grown: Grown) -> float:
    """Stalls if what a stay needs were in fast memory without a copy."""
    return game.stall_s((*held, _uncopied(grown)))


def _issues(
    game: Game, held: tuple[Held, ...], grown: Grown, earliest: int
) -> Iterator[Held]:
    """A stay with its prefetch, issued at one point after the other, latest first."""
    stay, limit = grown.stay, game.problem.target.copy_engine.max_outstanding_prefetches
    counts = _outstanding(game, _prefetches(held))
    for point in range(stay.start, earliest - 1, -1):
        if counts[point] >= limit:
            if point < stay.start:
                return
        elif game.loops.outside_before(point, stay.body) == point:
            yield Held(grown, (allocate(stay, 0, (point, stay.end)),))


def left_there(game: Game, held: tuple[Held, ...], grown: Grown) -> Iterator[Held]:
    """A stay that the previous run has left in fast memory, not yet placed.

    First with a copy for the next run, issued as late as stalls allow; then held all
    the time, if no other access would come to be served by that.
    """
    last = len(game.problem.program)
    base = game.stall_s((*held, _left(grown, [(0, grown.stay.end)])))
    for point in range(last - 1, grown.stay.end, -1):
        if game.loops.outside_before(point, None) != point:
            continue
        copied = _left(grown, [(0, grown.stay.end), (point, last)])
        if game.stall_s((*held, copied)) <= base + TOLERANCE:
            yield copied
            break
    if grown.is_last:
        yield _left(grown, [(0, last)])


def evicted(game: Game, holding: Holding, buffer: int) -> Holding | None:
    """The present stay of a buffer ends, and is copied back if it has to be.

    Of the points at which that may be due, it is the earliest at which stalls are as
    short as at the last.

    Returns:
        Nothing if it cannot be.
    """
    one = holding.of(buffer)
    if one is None or not one.grown.stay.evicts:
        return holding
    due_at = [holding.with_changed(buffer, x) for x in _endings(game, holding, one)]
    if not due_at:
        return None
    return due_at[_first_as_short(game, [x.held for x in due_at])]


def _first_as_short(game: Game, choices: Sequence[tuple[Held, ...]]) -> int:
    """The first of several choices with stalls as short as the last one's.

    As found by bisection: stalls are taken to get no longer from one to the next.
    """
    most_s = game.stall_s(choices[-1]) + TOLERANCE

    def is_short(index: int) -> bool:
        return game.stall_s(choices[index]) <= most_s

    return bisect_left(range(len(choices)), True, hi=len(choices) - 1, key=is_short)


def _endings(game: Game, holding: Holding, one: Held) -> Iterator[Held]:
    """A stay with its eviction, due at one point after the other."""
    stay, end = one.grown.stay, one.head.end
    limit = game.problem.target.copy_engine.max_outstanding_evictions
    counts = _outstanding(game, _evictions(holding.held))
    taken = game.room.boxes(holding.others(stay.buffer))
    unit = one.offset // game.room.unit
    for due in range(stay.issue, stay.deadline + 1):
        if counts[max(stay.issue, due - 1)] >= limit:
            return
        longer = [(end, due)] if due > end else []
        if not game.room.is_free(stay.buffer, unit, longer, taken):
            return
        if game.loops.outside_after(due, stay.body) == due:
            yield one.evicted(due)


def _outstanding(game: Game, copies: Iterator[Span]) -> list[int]:
    """How many of these copies are outstanding at each point."""
    counts = [0] * (len(game.problem.program) + 1)
    for issue, due in copies:
        for point in range(issue, max(due, issue + 1)):
            counts[point] += 1
    return counts


def _prefetches(held: tuple[Held, ...]) -> Iterator[Span]:
    """When each prefetch, or slice of one, is issued and due."""
    for x in held:
        if x.head.has_copy:
            issues = [y.issue for y in x.head.slices] or [x.head.start]
            yield from ((issue, x.head.ready) for issue in issues)


def _evictions(held: tuple[Held, ...]) -> Iterator[Span]:
    """When each eviction is issued and due."""
    return ((y.issue, y.due) for x in held if (y := x.head.eviction))


def _left(grown: Grown, spans: list[Span]) -> Held:
    return Held(grown, allocate_cross_program(grown.stay, 0, spans))
