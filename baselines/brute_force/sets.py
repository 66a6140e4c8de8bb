"""Every set of stays that one buffer may have by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hybridalloc.baselines.brute_force.stays import Life, Stay
from hybridalloc.memory_map import Origin
from hybridalloc.solver import Run


def sets(life: Life, run: Run, *, crossing: bool) -> Iterator[tuple[Stay, ...]]:
    """Sets of stays in which each matters, and that serve no stale access.

    Raises:
        TimeoutError: At the deadline.

    Args:
        life: Of one buffer.
        run: For its deadline.
        crossing: Whether there may be a cross-program prefetch.
    """
    stays = life.stays()
    for opening in ((), *(life.cross_program() if crossing else ())):
        yield from _extended(life, run, stays, opening)


def _extended(
    life: Life, run: Run, stays: Sequence[Stay], chosen: tuple[Stay, ...]
) -> Iterator[tuple[Stay, ...]]:
    if (
        _each_matters(life, chosen, life.end)
        and _may_be_in_place(life, chosen)
        and _is_current(life, chosen, life.end + 1)
    ):
        yield chosen
    passed = 0
    if run.expired:
        raise TimeoutError
    for index, stay in enumerate(stays, start=1):
        if stay.start > passed:
            if not _is_current(life, chosen, stay.start):
                return
            if not _each_matters(life, chosen, stay.start):
                return
            passed = stay.start
        if any(life.writes & stay.held & other.held for other in chosen):
            continue
        more = (*chosen, stay)
        if not _crowded(more) and _each_matters(life, more, stay.start):
            yield from _extended(life, run, stays[index:], more)


def _crowded(stays: tuple[Stay, ...]) -> bool:
    """Whether more than two of a buffer are there at one time."""
    once, twice = 0, 0
    for stay in stays:
        if twice & stay.held:
            return True
        twice |= once & stay.held
        once |= stay.held
    return False


def _each_matters(life: Life, stays: tuple[Stay, ...], point: int) -> bool:
    """Whether each but the tail serves an access that no other does, or hands on.

    One that doesn't can go: nothing else looks at it, and what it copies back is
    what is in slow memory already, for every write is served by one stay alone. To
    hand on at a back edge is to be there before, where another is at the loop's entry,
    or to be at the entry, where another is before and stays beyond the loop. Those to
    come start at the point or later.
    """
    once, twice, takes_over, kept = 0, 0, 0, life.gates_after(point)
    for stay in stays:
        twice |= once & stay.served
        once |= stay.served
        takes_over |= stay.takes_over
        kept |= stay.hands_on & stay.beyond
    return all(
        stay.served & ~twice
        or stay.hands_on & takes_over
        or stay.takes_over & kept
        or (stay.allocation.origin is Origin.CROSS_PROGRAM and stay.start > 0)
        for stay in stays
    )


def _may_be_in_place(life: Life, stays: tuple[Stay, ...]) -> bool:
    """Whether there are as many places at each back edge as at the loop's entry.

    And at the entry as many as are kept beyond the loop.
    """
    for number in range(len(life.gates)):
        beyond = sum(stay.beyond >> number & 1 for stay in stays)
        at_entry = sum(stay.at_entry >> number & 1 for stay in stays)
        at_back = sum(stay.at_back >> number & 1 for stay in stays)
        if not beyond <= at_entry <= at_back:
            return False
    return True


def _is_current(life: Life, chosen: Sequence[Stay], until: int) -> bool:
    """Whether slow memory is valid where it must be, up to a point, in a first pass.

    A necessary condition, which spares the checker most sets: evictions that are due
    at a point are taken to be complete before all else there.
    """
    valid = life.buffer.is_input
    for t in range(min(until, life.end)):
        served = False
        for stay in chosen:
            allocation = stay.allocation
            if allocation.eviction is not None and allocation.eviction.due == t:
                valid = True
            served |= bool(stay.served >> t & 1)
        if not valid and any(
            x.allocation.has_copy and x.allocation.start == t for x in chosen
        ):
            return False
        if not life.uses >> t & 1:
            continue
        if served:
            valid = valid and not life.writes >> t & 1
        elif life.whole >> t & 1:
            valid = True
        elif not valid:
            return False
    if until <= life.end or not life.buffer.is_output or valid:
        return True
    return any(
        x.allocation.eviction and x.allocation.eviction.due == life.end for x in chosen
    )
