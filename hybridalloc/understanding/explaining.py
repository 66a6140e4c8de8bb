"""Why a buffer is where it is under a map."""

from __future__ import annotations

from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.program import Memory, Use
from hybridalloc.simulator import Simulator
from hybridalloc.understanding.explanation import (
    AccessEffect,
    Barrier,
    Explanation,
    Limit,
    Place,
    changed,
)
from hybridalloc.understanding.missing import misses
from hybridalloc.understanding.naming import find_buffer
from hybridalloc.understanding.serving import Serving, uses_served
from hybridalloc.understanding.setting import Setting, require_valid


def explain(problem: Problem, memory_map: MemoryMap, buffer: int | str) -> Explanation:
    """Say where a buffer is under a map, what that is worth, and why it is so.

    Args:
        problem: The program, the target, and the cost model that counts.
        memory_map: A valid map of it.
        buffer: As for ``find_buffer``.

    Returns:
        Figures only; ``hybridalloc.report.explanation`` has the words.

    Raises:
        UsageError: There is no such buffer, the map is not valid, or the program's
            time is not finite.
    """
    index = find_buffer(problem.program, buffer)
    require_valid(problem, memory_map, "the map")
    simulator = Simulator(problem)
    simulator.require_finite()
    setting = Setting(simulator, Loops(problem.program), memory_map)
    what, barrier = problem.program.buffers[index], _barrier(problem, index)
    accesses = tuple(
        _effect(setting.serving, use, index) for use in problem.program.uses[index]
    )
    return Explanation(
        program=problem.program.name,
        target=problem.target.name,
        cost_model=problem.cost_model.value,
        capacity_bytes=problem.target.capacity,
        buffer=index,
        name=what.name,
        size=what.size,
        is_input=what.is_input,
        is_output=what.is_output,
        cross_program=_may_cross(problem, index),
        memory=what.memory.value,
        barrier=barrier,
        time_s=setting.simulation.time_s,
        stall_s=setting.simulation.stall_s,
        without_s=_time_without(setting, index),
        accesses=accesses,
        places=tuple(_places(problem, memory_map, index)),
        misses=misses(setting, index, accesses, barrier),
    )


def _barrier(problem: Problem, index: int) -> Barrier | None:
    buffer = problem.program.buffers[index]
    if buffer.memory is Memory.SLOW:
        return Barrier.EXCLUDED
    if buffer.size == 0:
        return Barrier.EMPTY
    if buffer.size > problem.target.capacity:
        return Barrier.TOO_LARGE
    return None


def _may_cross(problem: Problem, index: int) -> bool:
    """Whether solvers could choose it for a cross-program prefetch."""
    buffer = problem.program.buffers[index]
    written = any(use.access.writes for use in problem.program.uses[index])
    chosen = buffer.is_input and not buffer.is_output and buffer.cross_program
    allowed = problem.target.cross_program_prefetches > 0
    return chosen and not written and allowed


def _time_without(setting: Setting, index: int) -> float | None:
    allocations = setting.memory_map.allocations
    own = tuple(i for i, a in enumerate(allocations) if a.buffer == index)
    pinned = setting.problem.program.buffers[index].memory is Memory.FAST
    if not own or pinned:
        return None
    without = setting.simulator.simulate(changed(setting.memory_map, own))
    return setting.simulation.time_s + setting.change_s(without)


def _effect(serving: Serving, use: Use, index: int) -> AccessEffect:
    t, access = use.instruction, use.access
    program = serving.problem.program
    saving_s = serving.worth(t, index)
    return AccessEffect(
        instruction=t,
        name=program.instructions[t].name,
        runs=program.multiplicity[t],
        read_bytes=access.read_bytes,
        write_bytes=access.write_bytes,
        whole=access.whole,
        fast=index in serving.fast[t],
        elapsed_s=serving.elapsed(t),
        saving_s=saving_s,
        limit=None if saving_s else _limit(serving, use),
    )


def _limit(serving: Serving, use: Use) -> Limit:
    """Why it makes no difference where an access is served from."""
    if use.access.read_bytes + use.access.write_bytes == 0:
        return Limit.NO_BYTES
    instruction = serving.problem.program.instructions[use.instruction]
    estimated = serving.problem.observations[use.instruction]
    computes = serving.elapsed(use.instruction) == instruction.compute_s
    return Limit.ESTIMATE if estimated and not computes else Limit.COMPUTE


def _places(problem: Problem, memory_map: MemoryMap, index: int) -> list[Place]:
    """Its allocations, and slow memory in between where it is used or kept there."""
    program = problem.program
    own = [a for a in memory_map.allocations if a.buffer == index]
    own.sort(key=lambda a: (a.start, a.end))
    places, reached = [], 0
    for allocation in own:
        if allocation.start > reached:
            places.append(_slow(problem, index, reached, allocation.start))
        served = len(uses_served(program, allocation))
        places.append(Place(allocation.start, allocation.end, allocation, served))
        reached = max(reached, allocation.end)
    if reached < len(program):
        places.append(_slow(problem, index, reached, len(program)))
    return [
        x for x in places if x.allocation or x.accesses or _holds(problem, x, index)
    ]


def _slow(problem: Problem, index: int, start: int, end: int) -> Place:
    whole = Allocation(index, None, start, end)
    return Place(start, end, None, len(uses_served(problem.program, whole)))


def _holds(problem: Problem, place: Place, index: int) -> bool:
    """Whether the buffer has content that is needed while it is in slow memory."""
    buffer, uses = problem.program.buffers[index], problem.program.uses[index]
    defined = buffer.is_input or any(x.instruction < place.start for x in uses)
    later = next((x for x in uses if x.instruction >= place.end), None)
    needed = buffer.is_output if later is None else not later.access.whole
    return defined and needed
