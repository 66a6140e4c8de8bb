"""A program that is run several times in a row, as one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from map_strategies import memory_maps
from named_problems import W, problem, reads, updates, writes
from strategies import problems, programs

from hybridalloc.checker import check
from hybridalloc.memory_map import Eviction, MemoryMap, Origin
from hybridalloc.oracle import execute
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer, Loop, Program
from hybridalloc.repetition import repeat
from hybridalloc.simulator import Simulator

TIMES = st.integers(1, 4)


def repeated(one: Problem, times: int) -> Problem:
    """A problem whose program is run so many times."""
    return replace(one, program=repeat(one.program, times))


def in_each_repeat(memory_map: MemoryMap, program: Program, times: int) -> MemoryMap:
    """The allocations of a map, once for each repeat of the program."""
    names = repeat(program, times).buffer_index
    return MemoryMap(
        tuple(
            replace(
                allocation,
                buffer=names.get(f"{name}#{number + 1}", allocation.buffer),
                start=allocation.start + shift,
                ready=allocation.ready + shift,
                end=allocation.end + shift,
                slices=tuple(
                    replace(x, issue=x.issue + shift) for x in allocation.slices
                ),
                eviction=allocation.eviction
                and Eviction(
                    allocation.eviction.issue + shift, allocation.eviction.due + shift
                ),
            )
            for number in range(times)
            for shift in [number * len(program)]
            for allocation in memory_map.allocations
            for name in [program.buffers[allocation.buffer].name]
        )
    )


@given(programs())
def test_once_is_the_program_itself(program: Program) -> None:
    assert repeat(program, 1) is program


@pytest.mark.parametrize("times", [0, -1])
def test_a_program_runs_at_least_once(times: int) -> None:
    with pytest.raises(ValueError, match=f"times {times} is not >= 1"):
        repeat(problem((W,), ()).program, times)


def test_who_writes_a_buffer_decides_which_repeats_share_it() -> None:
    """Weights and a donated state are shared; the rest is each repeat's own.

    An input that is written and is no output is spent: the next repeat needs its own.
    """
    buffers = (
        Buffer("weights", 8, is_input=True),
        Buffer("state", 8, is_input=True, is_output=True),
        Buffer("spent", 8, is_input=True),
        Buffer("temporary", 8),
        Buffer("result", 8, is_output=True),
    )
    instruction = (reads(0), updates(1), updates(2), writes(3), writes(4))
    two = repeat(problem(buffers, instruction).program, 2)
    assert two.buffers[:5] == buffers
    assert two.buffers[5:] == (
        Buffer("spent#2", 8, is_input=True),
        Buffer("temporary#2", 8),
        Buffer("result#2", 8, is_output=True),
    )
    assert [x.buffer for x in two.instructions[1].accesses] == [0, 1, 5, 6, 7]
    assert [x.name for x in two.instructions] == ["i0", "i0#2"]
    assert two.name == "named x 2"


def test_names_stay_unique_where_a_buffer_is_called_as_a_repeat_would_be() -> None:
    """``x#2`` exists, so the second ``x`` is ``x##2``."""
    buffers = Buffer("x", 8), Buffer("x#2", 8)
    two = repeat(problem(buffers, (writes(0), writes(1))).program, 2)
    assert [x.name for x in two.buffers] == ["x", "x#2", "x##2", "x#2##2"]


def test_loops_are_repeated_where_their_instructions_are() -> None:
    loops = Loop(0, 3, 4), Loop(1, 2, 5)
    one = problem((W,), (), (), (), (), loops=loops)
    assert repeat(one.program, 2).loops == (*loops, Loop(4, 7, 4), Loop(5, 6, 5))


@given(programs(observed=True), TIMES)
def test_a_repeat_is_the_program_but_for_names(program: Program, times: int) -> None:
    """With each repeat's buffers called by their first names, all repeats are alike."""
    long = repeat(program, times)
    names = [buffer.name.partition("#")[0] for buffer in long.buffers]

    def described(start: int) -> list[object]:
        return [
            (
                instruction.name.partition("#")[0],
                replace(instruction, name="", accesses=(), observations=()),
                [(names[x.buffer], replace(x, buffer=0)) for x in instruction.accesses],
                [
                    ({names[i] for i in x.fast}, x.cycles)
                    for x in instruction.observations
                ],
            )
            for instruction in long.instructions[start : start + len(program)]
        ]

    starts = range(0, len(long), len(program))
    assert len(starts) == times
    assert all(described(start) == described(0) for start in starts)


@given(problems(), TIMES)
def test_with_everything_slow_it_takes_as_many_times_as_long(
    one: Problem, times: int
) -> None:
    slow_s = Simulator(one).slow_s
    assert Simulator(repeated(one, times)).slow_s == pytest.approx(times * slow_s)


@given(st.data(), problems(), TIMES)
def test_a_valid_map_is_valid_in_each_repeat(
    data: st.DataObject, one: Problem, times: int
) -> None:
    """Unless it counts on what the previous run leaves in fast memory.

    Or is copied back when the run has ended: the next one may begin with a prefetch.
    """
    drawn = data.draw(memory_maps(one))
    memory_map = MemoryMap(
        tuple(x for x in drawn.allocations if x.origin is not Origin.CROSS_PROGRAM)
    )
    end = len(one.program)
    late = any(x.eviction and x.eviction.issue == end for x in memory_map.allocations)
    if late or check(one, memory_map):
        return
    long = repeated(one, times)
    many = in_each_repeat(memory_map, one.program, times)
    assert check(long, many) == ()
    assert execute(long, many) == ()
