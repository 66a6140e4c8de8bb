"""What may be chosen for one buffer: every set of stays that is valid by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

from hybridalloc.baselines.brute_force.choice import Choice, Groups
from hybridalloc.baselines.brute_force.dominance import Needs, Undominated
from hybridalloc.baselines.brute_force.sets import sets
from hybridalloc.baselines.brute_force.stays import Life, Stay, alone
from hybridalloc.checker import content, copies, space
from hybridalloc.checker.facts import Facts
from hybridalloc.checker.violation import Rule
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.program import Memory
from hybridalloc.solver import Run

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


def choices(
    problem: Problem, buffer: int, *, any_input: bool, run: Run
) -> list[Choice]:
    """Every valid set of stays, those left out that another is as good as.

    Args:
        problem: The problem.
        buffer: Index into its buffers.
        any_input: Whether each input that the checker accepts may have the
            cross-program prefetch, and not only those meant for it.
        run: For its deadline.

    Raises:
        TimeoutError: At the deadline.
    """
    life = Life(alone(problem, buffer))
    fields = problem.program.buffers[buffer]
    crossing = _may_cross(problem, life) and (any_input or fields.cross_program)
    listed = []
    for stays in sets(life, crossing=crossing):
        if run.expired:
            raise TimeoutError
        listed.append((_separate(buffer, stays), stays))
    listed.sort(key=lambda entry: entry[0].order)
    found = Undominated()
    one_place = fields.offset is not None or not fields.size
    for needs, stays in listed:
        if run.expired:
            raise TimeoutError
        if found.lacks(needs):
            groupings = _groupings(life, stays, one_place=one_place)
            choices = (replace(needs.choice, groups=groups) for groups in groupings)
            _add_valid(life, found, choices)
    return found.choices


def _add_valid(life: Life, found: Undominated, choices: Iterable[Choice]) -> None:
    """Add those of one set of stays that are valid.

    Args:
        life: Of the buffer.
        found: Where to add them.
        choices: They differ in their groups, and restrict more and more.
    """
    for choice in choices:
        if not found.lacks(Needs(choice)):
            continue
        violated = _violated(life, choice)
        if not violated:
            found.add(choice)
        elif not violated <= _ABOUT_PLACES:
            return


def _may_cross(problem: Problem, life: Life) -> bool:
    """Whether the checker accepts a cross-program prefetch of the buffer."""
    limit, buffer = problem.target.cross_program_prefetches, life.buffer
    if not limit or not buffer.is_input or buffer.is_output or life.writes:
        return False
    return bool(life.uses) and buffer.memory is not Memory.SLOW


def _separate(buffer: int, stays: Sequence[Stay]) -> Needs:
    """What a set of stays needs if each may lie anywhere."""
    served = 0
    for stay in stays:
        served |= stay.served
    allocations = tuple(replace(stay.allocation, buffer=buffer) for stay in stays)
    groups = tuple((i,) for i in range(len(stays)))
    return Needs(Choice(allocations, served, groups))


def _groupings(
    life: Life, stays: Sequence[Stay], *, one_place: bool
) -> Iterator[Groups]:
    """The groupings that may make a set valid, those that restrict least first.

    Offsets matter to one buffer's rules only through which are the same, and to make
    more of them the same breaks none: what a rule asks is that one set of places is
    part of another.

    Args:
        life: Of the buffer.
        stays: The set.
        one_place: Whether the buffer has one offset, or has no bytes, so that one
            will do.
    """
    everything = (tuple(range(len(stays))),) if stays else ()
    for groups in (everything,) if one_place else _partitions(len(stays)):
        collide = life.buffer.size and any(_collide(stays, group) for group in groups)
        if not collide and _is_in_place(life, stays, groups):
            yield groups


def _is_in_place(life: Life, stays: Sequence[Stay], groups: Groups) -> bool:
    """Whether the places at each back edge can be those at the loop's entry.

    Spares the checker most groupings.
    """
    for number in range(len(life.gates)):
        at_entry, at_back, beyond = (
            {
                k
                for k, group in enumerate(groups)
                if any(gates[i] >> number & 1 for i in group)
            }
            for gates in (
                [stay.at_entry for stay in stays],
                [stay.at_back for stay in stays],
                [stay.beyond for stay in stays],
            )
        )
        if not beyond <= at_entry <= at_back:
            return False
    return True


def _violated(life: Life, choice: Choice) -> set[Rule]:
    """The rules that a buffer alone breaks, or some of them."""
    offsets = {i: place for place, group in enumerate(choice.groups) for i in group}
    placed = [
        replace(allocation, buffer=0, offset=offsets[i])
        for i, allocation in enumerate(choice.allocations)
    ]
    facts = Facts(life.only, MemoryMap(tuple(placed)))
    violated: set[Rule] = set()
    for violation in chain.from_iterable(rule(facts) for rule in _RULES):
        violated.add(violation.rule)
        if violation.rule not in _ABOUT_PLACES:
            break
    return violated


@cache
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


def _collide(stays: Sequence[Stay], group: Sequence[int]) -> bool:
    """Whether two stays of a group are there at one time."""
    held = 0
    for i in group:
        if held & stays[i].held:
            return True
        held |= stays[i].held
    return False
