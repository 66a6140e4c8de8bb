"""What holds between the three judges, for maps of every kind."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import problems

from hybridalloc import (
    Allocation,
    CostModel,
    Eviction,
    Instruction,
    MemoryMap,
    Problem,
    solve,
)
from hybridalloc.checker import check
from hybridalloc.oracle import execute
from hybridalloc.simulator import Simulator


@st.composite
def solved(
    draw: st.DrawFn, cost_model: CostModel | None = None
) -> tuple[Problem, MemoryMap]:
    """A random problem with a random valid map."""
    problem = draw(problems(cost_model))
    result = solve(problem, "random", seed=draw(st.integers(0, 99)), iterations=1)
    assume(result.map is not None)  # not every pin can be kept
    assert result.map is not None
    return problem, result.map


def with_faster_fast_memory(problem: Problem) -> Problem:
    """The same problem on a target whose fast memory deserves its name."""
    fast, slow = problem.target.spaces
    faster = replace(
        fast,
        read_bandwidth=fast.read_bandwidth + slow.read_bandwidth,
        write_bandwidth=fast.write_bandwidth + slow.write_bandwidth,
    )
    return replace(problem, target=replace(problem.target, spaces=(faster, slow)))


@given(solved(CostModel.ROOFLINE))
def test_time_lies_between_all_fast_and_all_slow_with_every_copy_waited_for(
    drawn: tuple[Problem, MemoryMap],
) -> None:
    problem, memory_map = with_faster_fast_memory(drawn[0]), drawn[1]
    engine = replace(problem.target.copy_engine, startup_s=0.0)
    problem = replace(problem, target=replace(problem.target, copy_engine=engine))
    simulator = Simulator(problem)
    simulation = simulator.simulate(memory_map)
    slow = problem.target.slow
    bandwidth = min(slow.read_bandwidth, slow.write_bandwidth)
    copies_s = simulation.moved_bytes / bandwidth
    assert simulation.time_s >= simulator.fast_s * (1 - 1e-9)
    assert simulation.time_s <= (simulator.slow_s + copies_s) * (1 + 1e-9)


@st.composite
def mutated(draw: st.DrawFn, allocation: Allocation, alignment: int) -> Allocation:
    """An allocation with one of its fields changed."""
    step = draw(st.sampled_from([-2, -1, 1, 2]))
    offset = (allocation.offset or 0) + step * alignment
    start, end, ready = allocation.start, allocation.end, allocation.ready
    eviction = allocation.eviction
    kind = draw(st.sampled_from(["offset", "end", "start", "ready", "eviction"]))
    try:
        match kind:
            case "offset":
                return replace(allocation, offset=offset)
            case "end":
                return replace(allocation, end=end + step)
            case "start":
                moved = start + step
                ready = moved if ready == start else ready
                return replace(allocation, start=moved, ready=ready, slices=())
            case "ready":
                return replace(allocation, ready=ready + step)
            case _ if eviction is None:
                return replace(allocation, eviction=Eviction(end, end))
            case _:
                return replace(allocation, eviction=None)
    except ValueError:  # such an allocation cannot even be written down
        return replace(allocation, offset=offset if offset >= 0 else 0)


@settings(max_examples=300)
@given(st.data(), solved())
def test_of_a_mutated_map_the_checker_names_a_violation_or_the_data_is_the_same(
    data: st.DataObject, drawn: tuple[Problem, MemoryMap]
) -> None:
    problem, memory_map = drawn
    allocations = list(memory_map.allocations)
    if allocations:
        index = data.draw(st.integers(0, len(allocations) - 1))
        alignment = problem.target.fast.alignment
        allocations[index] = data.draw(mutated(allocations[index], alignment))
    changed = MemoryMap(tuple(allocations))
    assert check(problem, changed) or execute(problem, changed) == ()


def padded(
    problem: Problem, memory_map: MemoryMap, free: list[int]
) -> tuple[Problem, MemoryMap]:
    """The same with ``free[t]`` instructions before instruction t that do nothing."""
    program, instructions, place = problem.program, [], []
    for t, instruction in enumerate(program.instructions):
        instructions += [Instruction(f"free {t}")] * free[t]
        place.append(len(instructions))
        instructions.append(instruction)
    place.append(len(instructions))
    loops = tuple(
        replace(loop, start=place[loop.start], end=place[loop.end])
        for loop in program.loops
    )
    longer = replace(program, instructions=tuple(instructions), loops=loops)
    moved = tuple(moved_to(place, a) for a in memory_map.allocations)
    return replace(problem, program=longer), MemoryMap(moved)


def moved_to(place: list[int], allocation: Allocation) -> Allocation:
    """An allocation with all its points where ``place`` says."""
    out = allocation.eviction
    return replace(
        allocation,
        start=place[allocation.start],
        end=place[allocation.end],
        ready=place[allocation.ready],
        slices=tuple(replace(s, issue=place[s.issue]) for s in allocation.slices),
        eviction=out and Eviction(place[out.issue], place[out.due]),
    )


@given(st.data(), solved())
def test_instructions_that_do_nothing_change_nothing(
    data: st.DataObject, drawn: tuple[Problem, MemoryMap]
) -> None:
    problem, memory_map = drawn
    count = len(problem.program) - 1
    free = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    free.insert(0, 0)  # what holds from the start of the program still does
    longer, moved = padded(problem, memory_map, free)
    assert check(longer, moved) == ()
    assert execute(longer, moved) == ()
    expected = Simulator(problem).simulate(memory_map)
    found = Simulator(longer).simulate(moved)
    assert found.time_s == pytest.approx(expected.time_s, rel=1e-9)
    assert found.moved_bytes == expected.moved_bytes
