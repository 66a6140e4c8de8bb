"""Why a buffer is where it is under a map."""

from __future__ import annotations

from hybridalloc.checker import check
from hybridalloc.errors import UsageError
from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import Memory, Use
from hybridalloc.simulator import Simulator
from hybridalloc.understanding.explanation import (
    AccessEffect,
    Barrier,
    Explanation,
    Limit,
    Stay,
    changed,
)
from hybridalloc.understanding.missing import misses
from hybridalloc.understanding.naming import find_buffer
from hybridalloc.understanding.serving import Serving, uses_served
from hybridalloc.understanding.setting import Setting


def explain(problem: Problem, memory_map: MemoryMap, buffer: int | str) -> Explanation:
    """Say where a buffer is under a map, what that is worth, and why it is so.

    Args:
        problem: The program, the target, and the cost model that counts.
        memory_map: A valid map of it.
        buffer: An index, or a text as for ``find_buffer``.

    Returns:
        Figures only; ``hybridalloc.report.explanation`` has the words.

    Raises:
        UsageError: There is no such buffer, the map is not valid, or the program's
            time is not finite.
    """
    text = buffer if isinstance(buffer, str) else f"#{buffer}"
    index = find_buffer(problem.program, text)
    require_valid(problem, memory_map, "the map")
    simulator = Simulator(problem)
    simulator.require_finite()
    setting = Setting(problem, memory_map, simulator)
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
        memory=what.memory.value,
        barrier=barrier,
        time_s=setting.simulation.time_s,
        stall_s=setting.simulation.stall_s,
        without_s=_time_without(setting, index),
        accesses=accesses,
        stays=tuple(_stays(problem, memory_map, index)),
        misses=misses(setting, index, accesses, barrier),
    )


def require_valid(problem: Problem, memory_map: MemoryMap, name: str) -> None:
    """Refuse an invalid map.

    Raises:
        UsageError: It is; tells the first violation.
    """
    violations = check(problem, memory_map)
    if violations:
        first, count = violations[0], len(violations)
        more = f" (and {count - 1} more, see `hybridalloc check`)" if count > 1 else ""
        raise UsageError(f"{name} is not valid: {first.rule}: {first.message}{more}")


def _barrier(problem: Problem, index: int) -> Barrier | None:
    buffer = problem.program.buffers[index]
    if buffer.memory is Memory.SLOW:
        return Barrier.EXCLUDED
    if buffer.size == 0:
        return Barrier.EMPTY
    if buffer.size > problem.target.capacity:
        return Barrier.TOO_LARGE
    return None


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
    estimated = (
        serving.problem.cost_model is CostModel.CYCLES and instruction.observations
    )
    computes = serving.elapsed(use.instruction) == instruction.compute_s
    return Limit.ESTIMATE if estimated and not computes else Limit.COMPUTE


def _stays(problem: Problem, memory_map: MemoryMap, index: int) -> list[Stay]:
    """Its allocations, and slow memory in between where it is used or kept there."""
    program = problem.program
    own = [a for a in memory_map.allocations if a.buffer == index]
    own.sort(key=lambda a: (a.start, a.end))
    stays, reached = [], 0
    for allocation in own:
        if allocation.start > reached:
            stays.append(_slow(problem, index, reached, allocation.start))
        served = len(uses_served(program, allocation))
        stays.append(Stay(allocation.start, allocation.end, allocation, served))
        reached = max(reached, allocation.end)
    if reached < len(program):
        stays.append(_slow(problem, index, reached, len(program)))
    return [x for x in stays if x.allocation or x.accesses or _holds(problem, x, index)]


def _slow(problem: Problem, index: int, start: int, end: int) -> Stay:
    whole = Allocation(index, None, start, end)
    return Stay(start, end, None, len(uses_served(problem.program, whole)))


def _holds(problem: Problem, stay: Stay, index: int) -> bool:
    """Whether the buffer has content that is needed while it is in slow memory."""
    buffer, uses = problem.program.buffers[index], problem.program.uses[index]
    defined = buffer.is_input or any(x.instruction < stay.start for x in uses)
    later = next((x for x in uses if x.instruction >= stay.end), None)
    needed = buffer.is_output if later is None else not later.access.whole
    return defined and needed
