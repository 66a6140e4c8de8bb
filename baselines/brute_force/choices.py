"""What may be chosen for one buffer: every set of stays that is valid by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from hybridalloc.baselines.brute_force.stays import Life, Stay, alone
from hybridalloc.checker import content, copies, space
from hybridalloc.checker.facts import Facts
from hybridalloc.checker.violation import Rule
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Memory
from hybridalloc.solver import Run

Groups = tuple[tuple[int, ...], ...]
"""Which allocations, by index, share an offset."""
_RULES = (
    space.pinned,
    copies.eviction,
    copies.loop_copy,
    copies.cross_program,
    content.content,
)
"""The rules that concern one buffer at a time."""
_ABOUT_PLACES = {Rule.LOOP_STATE, Rule.CROSS_PROGRAM}
"""What other offsets may mend."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The allocations of one buffer, all without offsets."""

    allocations: tuple[Allocation, ...]
    served: int
    """The instructions whose access fast memory serves, as a mask."""
    groups: Groups
    """Allocations of one group lie at one offset, those of two groups anywhere."""

    @property
    def is_cross_program(self) -> bool:
        """Whether it takes up a cross-program prefetch."""
        return any(x.origin is Origin.CROSS_PROGRAM for x in self.allocations)


def choices(
    problem: Problem, buffer: int, *, any_input: bool, run: Run
) -> Iterator[Choice]:
    """Every valid set of stays, those left out that another is obviously as good as.

    Raises:
        TimeoutError: At the deadline.
    """
    life = Life(alone(problem, buffer))
    fields = problem.program.buffers[buffer]
    for stays in _sets(life, _openings(problem, life, any_input)):
        if run.expired:
            raise TimeoutError
        allocations = tuple(stay.allocation for stay in stays)
        served = 0
        for stay in stays:
            served |= stay.served
        if fields.offset is None and fields.size:
            groupings = _groupings(life.only, allocations)
        else:
            groupings = _one_group(life.only, allocations)
        for groups in groupings:
            own = tuple(replace(x, buffer=buffer) for x in allocations)
            yield Choice(own, served, groups)


def _openings(
    problem: Problem, life: Life, any_input: bool
) -> Iterator[tuple[Stay, ...]]:
    """No cross-program prefetch, and each that is possible."""
    yield ()
    fields = life.buffer
    if (
        problem.target.cross_program_prefetches
        and fields.is_input
        and not fields.is_output
        and not life.writes
        and life.uses
        and fields.memory is not Memory.SLOW
        and (any_input or fields.cross_program)
    ):
        yield from life.cross_program()


def _sets(
    life: Life, openings: Iterator[tuple[Stay, ...]]
) -> Iterator[tuple[Stay, ...]]:
    """Sets of stays in which each matters, and that serve no stale access."""
    stays = life.stays()
    for opening in openings:
        yield from _extended(life, stays, opening, 0)


def _extended(
    life: Life, stays: Sequence[Stay], chosen: tuple[Stay, ...], first: int
) -> Iterator[tuple[Stay, ...]]:
    if _each_matters(life, chosen, life.end) and _is_current(
        life, chosen, life.end + 1
    ):
        yield chosen
    passed = 0
    for index in range(first, len(stays)):
        stay = stays[index]
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
            yield from _extended(life, stays, more, index + 1)


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
    once, twice, entries, kept = 0, 0, 0, life.gates_after(point)
    for stay in stays:
        twice |= once & stay.served
        once |= stay.served
        entries |= stay.entries
        kept |= stay.kept
    return all(
        stay.served & ~twice
        or stay.backs & entries
        or stay.entries & kept
        or (stay.allocation.origin is Origin.CROSS_PROGRAM and stay.start > 0)
        for stay in stays
    )


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


def _one_group(only: Problem, allocations: tuple[Allocation, ...]) -> Iterator[Groups]:
    """All at the one offset that a buffer has, or that will do as it has no bytes."""
    groups = (tuple(range(len(allocations))),) if allocations else ()
    size = only.program.buffers[0].size
    if size and any(_collide(allocations, group) for group in groups):
        return
    if not _violated(only, allocations, groups):
        yield groups


def _groupings(only: Problem, allocations: tuple[Allocation, ...]) -> Iterator[Groups]:
    """The groupings that make a set valid, and of them the least restricting.

    Offsets matter to one buffer's rules only through which are the same, and to make
    more of them the same breaks none: what a rule asks is that one set of places is
    part of another.
    """
    found: list[Groups] = []
    for groups in _partitions(len(allocations)):
        if any(_refines(finer, groups) for finer in found):
            continue
        if any(_collide(allocations, group) for group in groups):
            continue
        violated = _violated(only, allocations, groups)
        if not violated:
            found.append(groups)
            yield groups
        elif not violated <= _ABOUT_PLACES:
            return


def _violated(
    only: Problem, allocations: tuple[Allocation, ...], groups: Groups
) -> set[Rule]:
    """The rules that a buffer alone breaks, or some of them."""
    offsets = {i: place for place, group in enumerate(groups) for i in group}
    placed = [replace(x, offset=offsets[i]) for i, x in enumerate(allocations)]
    facts = Facts(only, MemoryMap(tuple(placed)))
    violated: set[Rule] = set()
    for violation in chain.from_iterable(rule(facts) for rule in _RULES):
        violated.add(violation.rule)
        if violation.rule not in _ABOUT_PLACES:
            break
    return violated


def _partitions(count: int) -> list[Groups]:
    """The ways to group so many things, those with most groups first."""
    partitions: list[Groups] = [()]
    for i in range(count):
        partitions = [
            grown
            for groups in partitions
            for grown in (
                (*groups, (i,)),
                *(
                    (*groups[:k], (*groups[k], i), *groups[k + 1 :])
                    for k in range(len(groups))
                ),
            )
        ]
    return sorted(partitions, key=len, reverse=True)


def _refines(finer: Groups, groups: Groups) -> bool:
    return all(any(set(a) <= set(b) for b in groups) for a in finer)


def _collide(allocations: Sequence[Allocation], group: Sequence[int]) -> bool:
    """Whether two allocations of a group exist at one time."""
    ordered = sorted((allocations[i].start, allocations[i].end) for i in group)
    return any(after[0] < before[1] for before, after in pairwise(ordered))
