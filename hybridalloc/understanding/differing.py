"""How two maps of one problem differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.problem import CostModel, Problem
from hybridalloc.simulator import Simulation, Simulator
from hybridalloc.understanding.difference import (
    BufferChange,
    Change,
    Difference,
    Figures,
    InstructionChange,
    Times,
)
from hybridalloc.understanding.overlapping import Held, overlap, slow_clock
from hybridalloc.understanding.serving import Serving, close
from hybridalloc.understanding.setting import require_valid

_Effects = dict[int, float]
"""Seconds by buffer."""


def diff(problem: Problem, a: MemoryMap, b: MemoryMap) -> Difference:
    """Say how two maps differ, and what that does to the time of a run.

    Args:
        problem: The program, the target, and the cost model that counts.
        a: A valid map of it.
        b: Another one.

    Returns:
        Figures only; ``hybridalloc.report.difference`` has the words. The effects of
        all buffers and the difference in stalls sum up to the difference in time.

    Raises:
        UsageError: A map is not valid, or the program's time is not finite.
    """
    require_valid(problem, a, "the first map")
    require_valid(problem, b, "the second map")
    simulators, clock = tuple(_simulators(problem)), slow_clock(problem)
    one, other = (_Side.of(simulators, x, clock) for x in (a, b))
    steps, effects = _instructions(one.serving, other.serving)
    buffers = _buffers(one, other, effects)
    placed = {x.buffer for x in (*a.allocations, *b.allocations)}
    return Difference(
        program=problem.program.name,
        target=problem.target.name,
        cost_model=problem.cost_model.value,
        capacity_bytes=problem.target.capacity,
        times=tuple(_times(simulators, one, other)),
        a=one.figures(),
        b=other.figures(),
        overlap=overlap(one.held, other.held),
        unchanged=len(placed) - len(buffers),
        buffers=tuple(buffers),
        instructions=tuple(steps),
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the maps, and what is computed of it once."""

    memory_map: MemoryMap
    simulations: tuple[Simulation, ...]
    """Under each cost model, that of the problem first."""
    serving: Serving
    held: Held

    @staticmethod
    def of(
        simulators: Sequence[Simulator], memory_map: MemoryMap, clock: Sequence[float]
    ) -> _Side:
        problem = simulators[0].problem
        return _Side(
            memory_map,
            tuple(x.simulate(memory_map) for x in simulators),
            Serving(problem, memory_map),
            Held(problem, memory_map, clock),
        )

    def figures(self) -> Figures:
        """The map by itself."""
        allocations = self.memory_map.allocations
        return Figures(
            allocations=len(allocations),
            buffers=len({x.buffer for x in allocations}),
            prefetches=sum(x.origin is Origin.PREFETCHED for x in allocations),
            evictions=sum(x.eviction is not None for x in allocations),
            peak_bytes=self.memory_map.peak_bytes(self.serving.problem.program),
            moved_bytes=self.simulations[0].moved_bytes,
            byte_seconds=self.held.byte_seconds,
        )


def _simulators(problem: Problem) -> Iterator[Simulator]:
    """A simulator for each cost model that there is, that of the problem first.

    Nobody is told of predicted estimates who did not ask for them.
    """
    others = [CostModel.ROOFLINE, *([CostModel.CYCLES] * problem.has_estimates)]
    for model in dict.fromkeys((problem.cost_model, *others)):
        simulator = Simulator(replace(problem, cost_model=model))
        simulator.require_finite()
        yield simulator


def _times(simulators: Sequence[Simulator], a: _Side, b: _Side) -> Iterator[Times]:
    """Both maps under each cost model."""
    pairs = zip(a.simulations, b.simulations, strict=True)
    for simulator, (one, other) in zip(simulators, pairs, strict=True):
        model = simulator.problem.cost_model.value
        yield Times(model, one.time_s, other.time_s, one.stall_s, other.stall_s)


def _instructions(
    before: Serving, after: Serving
) -> tuple[list[InstructionChange], _Effects]:
    """The instructions with accesses served differently, and each buffer's effect."""
    program = before.problem.program
    found: list[InstructionChange] = []
    effects: _Effects = defaultdict(float)
    for t, (one, other) in enumerate(zip(before.fast, after.fast, strict=True)):
        if one == other:
            continue
        runs, instruction = program.multiplicity[t], program.instructions[t]
        for buffer, seconds in _shares(before, t, other).items():
            effects[buffer] += runs * seconds
        changed = [a.buffer for a in instruction.accesses]
        to_fast, to_slow = (
            tuple(program.buffers[i].name for i in changed if i in gained)
            for gained in (other - one, one - other)
        )
        one_s, other_s = before.elapsed(t), after.elapsed(t)
        change_s = 0.0 if close(one_s, other_s) else runs * (other_s - one_s)
        found.append(
            InstructionChange(t, instruction.name, runs, change_s, to_fast, to_slow)
        )
    found.sort(key=lambda x: (-abs(x.change_s), x.instruction))
    return found, effects


def _shares(before: Serving, t: int, other: set[int]) -> _Effects:
    """What each access has to do with an instruction's difference in seconds."""
    instruction = before.problem.program.instructions[t]
    moved = [
        x.buffer
        for x in instruction.accesses
        if (x.buffer in before.fast[t]) != (x.buffer in other)
    ]
    shares: _Effects = dict.fromkeys(moved, 0.0)
    for order in (moved, moved[::-1]):
        fast = set(before.fast[t])
        last_s = before.elapsed(t, fast)
        for buffer in order:
            fast ^= {buffer}
            seconds = before.elapsed(t, fast)
            if not close(seconds, last_s):
                shares[buffer] += (seconds - last_s) / 2
            last_s = seconds
    return shares


def _buffers(a: _Side, b: _Side, effects: _Effects) -> list[BufferChange]:
    """The buffers whose allocations differ, by what they have to do with the time."""
    program = a.serving.problem.program
    by_buffer = [_by_buffer(x.memory_map) for x in (a, b)]
    found = []
    for index in sorted(by_buffer[0].keys() | by_buffer[1].keys()):
        one, other = (groups.get(index, []) for groups in by_buffer)
        to_fast, to_slow = _served_differently(index, a.serving, b.serving)
        change = _change(one, other, to_fast + to_slow)
        if change is not None:
            buffer, effect_s = program.buffers[index], effects.get(index, 0.0)
            found.append(
                BufferChange(
                    *(index, buffer.name, buffer.size, change),
                    *(to_fast, to_slow, effect_s),
                )
            )
    return sorted(found, key=_rank)


def _rank(x: BufferChange) -> tuple[float, bool, int, int]:
    """By effect; if tied, what only moved to another offset last; then by size."""
    return -abs(x.effect_s), x.change is Change.OFFSET, -x.size, x.buffer


def _by_buffer(memory_map: MemoryMap) -> dict[int, list[Allocation]]:
    groups: dict[int, list[Allocation]] = defaultdict(list)
    for allocation in memory_map.allocations:
        groups[allocation.buffer].append(allocation)
    for group in groups.values():
        group.sort(key=lambda x: (x.start, x.end, x.offset or 0))
    return dict(groups)


def _served_differently(index: int, before: Serving, after: Serving) -> tuple[int, int]:
    """How many accesses only the second, and only the first, serves fast."""
    points = [use.instruction for use in before.problem.program.uses[index]]
    pairs = [(index in before.fast[t], index in after.fast[t]) for t in points]
    return pairs.count((False, True)), pairs.count((True, False))


def _change(
    one: list[Allocation], other: list[Allocation], differently: int
) -> Change | None:
    """How two buffers' allocations differ; ``None`` if they do not."""
    if not other:
        return Change.ONLY_A
    if not one:
        return Change.ONLY_B
    if differently:
        return Change.SERVED
    if one == other:
        return None
    placeless = [[replace(x, offset=None) for x in group] for group in (one, other)]
    return Change.OFFSET if placeless[0] == placeless[1] else Change.TIME
