"""What may be chosen for one buffer: every set of stays that is valid by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, combinations

from hybridalloc.baselines.brute_force.choice import Choice, Groups
from hybridalloc.baselines.brute_force.dominance import Needs, Undominated
from hybridalloc.baselines.brute_force.sets import sets
from hybridalloc.baselines.brute_force.stays import Life, Stay, alone
from hybridalloc.checker import content, copies, space
from hybridalloc.checker.facts import Facts
from hybridalloc.checker.violation import Rule
from hybridalloc.memory_map import MemoryMap, Origin
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
    for stays in sets(life, run, crossing=crossing):
        listed.append((_separate(stays), stays))
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
    return [_of(buffer, choice) for choice in found.choices]


def _of(buffer: int, choice: Choice) -> Choice:
    """The same choice for the buffer of this index."""
    own = tuple(replace(x, buffer=buffer) for x in choice.allocations)
    return replace(choice, allocations=own)


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


def _separate(stays: Sequence[Stay]) -> Needs:
    """What a set of stays needs if each may lie anywhere."""
    served = 0
    for stay in stays:
        served |= stay.served
    allocations = tuple(stay.allocation for stay in stays)
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
    everything: Groups = (tuple(range(len(stays))),) if stays else ()
    groupings = [everything] if one_place else _partitions(_units(stays))
    gates = [_at_gate(stays, number) for number in range(len(life.gates))]
    apart = [
        1 << i | 1 << j
        for i, j in combinations(range(len(stays)), 2)
        if life.buffer.size and stays[i].held & stays[j].held
    ]
    for groups in groupings:
        masks = [sum(1 << i for i in group) for group in groups]
        if any(mask & pair == pair for mask in masks for pair in apart):
            continue
        if all(_is_in_place(masks, *gate) for gate in gates):
            yield groups


def _units(stays: Sequence[Stay]) -> tuple[tuple[tuple[int, ...], bool], ...]:
    """What is grouped: stays, or the two of a cross-program prefetch.

    Each with whether it may have to share its place. That is only to take it over or
    to hand it on at a back edge: what is there both before and after the back edge
    does not need another there, nor can be what another needs, at the same time.
    """
    crossing = [
        i for i, x in enumerate(stays) if x.allocation.origin is Origin.CROSS_PROGRAM
    ]
    units = [tuple(crossing)] if crossing else []
    units += [(i,) for i in range(len(stays)) if i not in crossing]
    return tuple(
        (unit, any(stays[i].takes_over | stays[i].hands_on for i in unit))
        for unit in units
    )


def _at_gate(stays: Sequence[Stay], number: int) -> tuple[int, int, int]:
    """The stays at the entry, at the back edge, and beyond a loop, as masks."""
    at_entry = sum((x.at_entry >> number & 1) << i for i, x in enumerate(stays))
    at_back = sum((x.at_back >> number & 1) << i for i, x in enumerate(stays))
    beyond = sum((x.beyond >> number & 1) << i for i, x in enumerate(stays))
    return at_entry, at_back, beyond


def _is_in_place(
    groups: Iterable[int], at_entry: int, at_back: int, beyond: int
) -> bool:
    """Whether the places at a back edge can be those at the loop's entry.

    Spares the checker most groupings.
    """
    return all(
        (mask & at_entry or not mask & beyond)
        and (mask & at_back or not mask & at_entry)
        for mask in groups
    )


def _violated(life: Life, choice: Choice) -> set[Rule]:
    """The rules that a buffer alone breaks, or some of them."""
    offsets = {i: place for place, group in enumerate(choice.groups) for i in group}
    placed = [
        replace(allocation, offset=offsets[i])
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
def _partitions(units: tuple[tuple[tuple[int, ...], bool], ...]) -> list[Groups]:
    """The ways to group what may share its place, those with most groups first."""
    fixed = tuple(unit for unit, may_share in units if not may_share)
    partitions: list[Groups] = [()]
    for unit in (unit for unit, may_share in units if may_share):
        partitions = [
            grown
            for groups in partitions
            for grown in (
                (*groups, unit),
                *(
                    (*groups[:k], (*group, *unit), *groups[k + 1 :])
                    for k, group in enumerate(groups)
                ),
            )
        ]
    partitions.sort(key=len, reverse=True)
    return [(*fixed, *groups) for groups in partitions]
