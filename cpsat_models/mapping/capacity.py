"""The constraint on space, offsets apart: at no instruction is too much in fast memory.

Offsets are multiples of the alignment, so an allocation takes the first byte of as many
*blocks*, of alignment bytes each, as its size comes to, rounded up. A block is usable
by an instruction if its first byte is neither reserved nor scratch. Any placement keeps
to this; that one exists is settled in ``offsets``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from hybridalloc.cpsat_models.mapping.offsets import Conflict
from hybridalloc.cpsat_models.mapping.places import offsets_alone
from hybridalloc.cpsat_models.mapping.variables import (
    CopyVariables,
    LifeVariables,
    Linear,
    Lit,
    Model,
    Variables,
)
from hybridalloc.target import MemorySpace
from hybridalloc.timeline import Kind

Interval = tuple[int, int, Lit]
"""Instructions [start, end), and whether the buffer takes its space then."""


def fits_capacity(variables: Variables) -> None:
    """What is in fast memory at an instruction fits into its usable blocks."""
    program, fast = variables.problem.program, variables.problem.target.fast
    terms: dict[int, list[tuple[int, Lit]]] = defaultdict(list)
    for life in variables.lives:
        variables.model.require_time()
        blocks = -(-life.life.size // fast.alignment)
        fits = _fits(variables, life)
        for start, end, literal in space_of(variables, life):
            if not all(fits[start:end]):
                variables.model.add_bool_or(~literal)
                continue
            for t in range(start, end):
                terms[t].append((blocks, literal))
    before: tuple[int, list[tuple[int, int]]] | None = None
    for t, instruction in enumerate(program.instructions):
        variables.model.require_time()
        usable = usable_blocks(fast, instruction.scratch_bytes)
        same = usable, [(blocks, literal.index) for blocks, literal in terms[t]]
        if same != before and sum(blocks for blocks, _ in terms[t]) > usable:
            load: Linear = sum(blocks * literal for blocks, literal in terms[t])
            variables.model.add(load <= usable)
        before = same


def _fits(variables: Variables, life: LifeVariables) -> list[bool]:
    """(T,): whether there would be a place for a buffer if it were alone."""
    buffer = variables.problem.program.buffers[life.life.buffer]
    fast, known = variables.problem.target.fast, {}
    scratch = [x.scratch_bytes for x in variables.problem.program.instructions]
    for size in set(scratch):
        places = offsets_alone(fast, buffer.size, buffer.offset, size)
        known[size] = not places.is_empty()
    return [known[size] for size in scratch]


def usable_blocks(space: MemorySpace, scratch: int) -> int:
    """How many multiples of the alignment an offset may be, scratch apart.

    >>> usable_blocks(MemorySpace("fast", 1, 1, 14, 4, reserved=((5, 9),)), 4)
    2
    """
    unit, capacity = space.alignment, space.capacity or 0
    taken = sorted([(0, scratch), *space.reserved])
    usable = low = 0
    for start, end in (*taken, (capacity, capacity)):
        start = min(start, capacity)
        if start > low:
            usable += -(-start // unit) - -(-low // unit)
        low = max(low, end)
    return usable


def space_of(variables: Variables, life: LifeVariables) -> Iterator[Interval]:
    """When a buffer takes space; two allocations of it at one time both count."""
    yield from _nodes(variables, life)
    for k, segment in enumerate(life.life.timeline.segments):
        low = max(segment.low, _dangling(variables, life, k))
        if k in life.evictions:
            yield from _evicting(variables, life, k, low)
        elif life.held[k] is not variables.model.false:
            yield low, segment.high, life.held[k]
    for k, fetch in life.fetches.items():
        yield from _in_flight(fetch, life.life.timeline.segments[k].high)
    for tail in life.tails:
        yield from _in_flight(tail, tail.window.dues[-1])


def _nodes(variables: Variables, life: LifeVariables) -> Iterator[Interval]:
    """While an access runs; at the begin of a loop while its first instruction does."""
    for k, node in enumerate(life.life.timeline.nodes):
        if node.kind is Kind.ACCESS:
            yield node.point, node.point + 1, life.fast[k]
        elif node.kind is Kind.ENTRY and life.fast[k] is not variables.model.false:
            segment = life.life.timeline.segments[k + 1]
            end = min(life.life.end_after(k, variables.loops), segment.high)
            yield node.point, end, life.fast[k]


def _dangling(variables: Variables, life: LifeVariables, k: int) -> int:
    """Up to where the entry before a segment has taken the space already."""
    if k and life.life.timeline.nodes[k - 1].kind is Kind.ENTRY:
        return life.life.end_after(k - 1, variables.loops)
    return 0


def _evicting(
    variables: Variables, life: LifeVariables, k: int, low: int
) -> Iterator[Interval]:
    """Held through a segment, or there until the eviction is due."""
    copy, held, model = life.evictions[k], life.held[k], variables.model
    high = life.life.timeline.segments[k].high
    bounds = [low, *(x for x in copy.window.dues if low < x < high), high]
    for start, end in pairwise(bounds):
        due = copy.ready_by(start)
        there = model.literal()
        model.add_implication(held, there)
        clause = [~copy.made, there]
        model.add_bool_or(*clause, *(() if due is None else (due,)))
        yield start, end, there


def _in_flight(copy: CopyVariables, end: int) -> Iterator[Interval]:
    """From its issue on, until it is needed."""
    bounds = [*copy.window.issues, end]
    for (start, stop), issued in zip(pairwise(bounds), copy.issued, strict=True):
        yield start, stop, issued


def forbid(variables: Variables, conflict: Conflict) -> None:
    """Exclude what was found to have no offsets.

    Buffers that have none at one time are excluded at every instruction that has no
    more room.
    """
    model, program = variables.model, variables.problem.program
    model.add_bool_or(*{x.index: ~x for x in conflict.literals}.values())
    if not conflict.at_once:
        return
    there: dict[int, dict[int, list[Lit]]] = defaultdict(lambda: defaultdict(list))
    for life in variables.lives:
        if life.life.buffer in conflict.at_once:
            for start, end, literal in space_of(variables, life):
                for t in range(start, end):
                    there[t][life.life.buffer].append(literal)
    for t, by_buffer in there.items():
        enough = program.instructions[t].scratch_bytes >= conflict.scratch
        if enough and len(by_buffer) == len(conflict.at_once):
            model.add_bool_or(*(~_any(model, x) for x in by_buffer.values()))


def _any(model: Model, literals: list[Lit]) -> Lit:
    """A literal that is true if any of these is."""
    if len(literals) == 1:
        return literals[0]
    found = model.literal()
    for literal in literals:
        model.add_implication(literal, found)
    return found
