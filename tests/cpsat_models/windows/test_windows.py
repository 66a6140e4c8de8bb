"""Windows: what they hold, what is put back, and the search over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from named_problems import reads, target, updates, writes
from small_problems import Sizes, small_problem

from hybridalloc import MemoryMap, Problem, Run, solve
from hybridalloc.baselines.random import Random
from hybridalloc.checker import check
from hybridalloc.cpsat_models.windows import Windows, WindowsConfig
from hybridalloc.cpsat_models.windows.building import WindowProblem, build
from hybridalloc.cpsat_models.windows.choice import widened
from hybridalloc.cpsat_models.windows.clock import Clock
from hybridalloc.cpsat_models.windows.soundness import is_sound
from hybridalloc.cpsat_models.windows.splicing import splice
from hybridalloc.cpsat_models.windows.surroundings import (
    Crossing,
    Surroundings,
    Window,
)
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, Eviction, Origin
from hybridalloc.oracle import execute
from hybridalloc.program import Access, Buffer, Instruction, Loop, Memory, Program
from hybridalloc.simulator import Simulator

A, B = 0, 1
ANY = Memory.ANY


def problem_of(
    steps: Sequence[Sequence[Access]],
    *,
    loops: tuple[Loop, ...] = (),
    scratch: int = 0,
    inputs: tuple[bool, bool] = (True, True),
    outputs: tuple[bool, bool] = (False, False),
) -> Problem:
    """Two buffers of 8 bytes; each instruction computes for 2 s."""
    buffers = tuple(
        Buffer(name, 8, is_input, is_output)
        for name, is_input, is_output in zip("ab", inputs, outputs, strict=True)
    )
    instructions = tuple(
        Instruction(f"i{t}", 2.0, tuple(accesses), scratch)
        for t, accesses in enumerate(steps)
    )
    return Problem(Program("two", instructions, buffers, loops), target())


def window_of(
    problem: Problem, stays: Sequence[Allocation], low: int, high: int
) -> WindowProblem:
    """All that may change in a window may."""
    surroundings = surroundings_of(problem, MemoryMap(tuple(stays)))
    window = Window(low, high)
    crossings = [x for x in surroundings.crossings(window) if x.is_free]
    return build_window(problem, surroundings, window, crossings)


def build_window(
    problem: Problem,
    surroundings: Surroundings,
    window: Window,
    crossings: Sequence[Crossing],
) -> WindowProblem:
    clock = Clock(problem, Run())
    clock.measure(surroundings, Window(0, len(problem.program)))
    return build(problem, surroundings, window, crossings, clock)


def surroundings_of(problem: Problem, memory_map: MemoryMap) -> Surroundings:
    return Surroundings(problem.program, Loops(problem.program), memory_map)


def require_same(problem: Problem, small: WindowProblem) -> None:
    """The present map is valid in the window, and put back it is what it was."""
    whole = small.surroundings.map
    assert check(problem, whole) == ()
    assert check(small.problem, small.present) == ()
    assert splice(small, small.present) == whole


def fetched(start: int, ready: int, end: int, offset: int = 0) -> Allocation:
    return Allocation(A, offset, start, end, Origin.PREFETCHED, ready)


def test_what_is_held_across_a_window_is_held_at_both_its_ends() -> None:
    problem = problem_of([[reads(A)], [reads(B)], [], [reads(A)]])
    small = window_of(problem, [fetched(0, 0, 4, offset=8)], 1, 3)
    require_same(problem, small)
    first, *_, last = small.problem.program.instructions
    assert first.accesses == last.accesses == (Access(0, read_bytes=1),)
    assert small.problem.program.buffers[0].offset == 8


def test_what_is_held_at_an_end_costs_more_than_all_else_if_it_is_not() -> None:
    problem = problem_of([[reads(A)], [reads(B)], [], [reads(A)]])
    small = window_of(problem, [fetched(0, 0, 4)], 1, 3)
    simulator = Simulator(small.problem)
    present_s = simulator.simulate(small.present).time_s
    entered = MemoryMap((replace(small.present.allocations[0], end=1),))
    assert simulator.simulate(entered).time_s > 2 * present_s
    assert splice(small, entered) is None
    assert splice(small, MemoryMap()) is None


def test_a_stale_value_is_written_at_the_begin_and_cannot_be_read_in_slow_memory() -> (
    None
):
    problem = problem_of([[writes(A)], [reads(B)], [reads(A)]], inputs=(False, True))
    small = window_of(problem, [Allocation(A, 0, 0, 3)], 1, 2)
    require_same(problem, small)
    assert small.problem.program.instructions[0].accesses == (
        Access(0, 0, 1, whole=True),
    )
    assert not small.problem.program.buffers[0].is_input


def test_a_valid_slow_copy_is_an_input() -> None:
    problem = problem_of([[writes(A)], [reads(A)]], inputs=(False, True))
    small = window_of(problem, [], 1, 2)
    assert small.problem.program.buffers[0].is_input
    assert not small.problem.program.buffers[0].is_output


def test_a_slow_copy_that_is_read_later_is_an_output() -> None:
    problem = problem_of([[writes(A)], [], [reads(A)]], inputs=(False, True))
    stay = Allocation(A, 0, 0, 2, eviction=Eviction(1, 2))
    small = window_of(problem, [stay], 0, 2)
    require_same(problem, small)
    assert small.problem.program.buffers[0].is_output


def test_a_value_that_is_overwritten_later_is_no_output() -> None:
    problem = problem_of([[reads(A)], [writes(A)]])
    assert not window_of(problem, [], 0, 1).problem.program.buffers[0].is_output


def test_a_loop_within_is_kept_and_one_around_is_left_out() -> None:
    loops = (Loop(0, 6, 3), Loop(2, 4, 5))
    problem = problem_of([[], [], [reads(A)], [reads(A)], [], []], loops=loops)
    small = window_of(problem, [], 1, 5)
    assert small.problem.program.loops == (Loop(2, 4, 5),)


def test_a_window_is_widened_to_the_loop_that_it_would_cut() -> None:
    program = problem_of([[]] * 8, loops=(Loop(0, 8, 2), Loop(2, 5, 3))).program
    assert widened(program, 3, 4) == Window(3, 4)
    assert widened(program, 4, 6) == Window(2, 6)
    assert widened(program, 6, 9) == Window(0, 8)


def test_scratch_is_as_large_as_that_of_all_instructions_of_a_step() -> None:
    problem = problem_of([[reads(A)], [], [], [reads(A)]], scratch=8)
    small = window_of(problem, [], 0, 4)
    steps = small.problem.program.instructions
    assert [x.scratch_bytes for x in steps] == [0, 8, 8, 8, 0]
    assert small.points == (0, 1, 3, 4)
    assert steps[2].compute_s == 2 + 2


@pytest.mark.parametrize(("low", "high"), [(0, 1), (1, 4)])
def test_what_is_being_copied_at_an_end_does_not_change(low: int, high: int) -> None:
    problem = problem_of([[], [reads(B)], [], [reads(A)]])
    small = window_of(problem, [fetched(0, 2, 4, offset=8)], low, high)
    require_same(problem, small)
    assert A not in [x.buffer for x in small.crossings]
    taken = [x for x in small.problem.program.buffers if x.size == 8 and x.offset == 8]
    assert len(taken) == len(small.points) - 1
    assert all(x.memory is Memory.FAST for x in taken)


def test_what_does_not_change_is_served_as_before_and_takes_as_long() -> None:
    # a fast: 8 B / 4 B/s = 2 s, b slow: 8 s, both at once 10 s.
    problem = problem_of([[reads(A)], [reads(A), reads(B)], [reads(A)]])
    whole = MemoryMap((fetched(0, 0, 3),))
    surroundings = surroundings_of(problem, whole)
    small = build_window(problem, surroundings, Window(1, 2), [])
    assert Simulator(small.problem).simulate(small.present).time_s == pytest.approx(10)


def test_copies_of_what_does_not_change_leave_less_idle_time() -> None:
    # The copy of b takes 8 s: 2 s idle at instruction 0, 2 s at 1, 2 s at 2, a stall.
    problem = problem_of([[], [], [], [reads(A), reads(B)]])
    stay = Allocation(B, 0, 0, 4, Origin.PREFETCHED, ready=3)
    surroundings = surroundings_of(problem, MemoryMap((stay,)))
    small = build_window(problem, surroundings, Window(0, 3), [])
    step = small.problem.program.instructions[1]
    assert step.compute_s == 6
    assert step.accesses[0].read_bytes == 6


def test_a_stay_goes_on_from_what_is_held_before_to_a_new_fetch() -> None:
    problem = problem_of([[reads(A)], [reads(B)], [], [reads(A)]])
    small = window_of(problem, [fetched(0, 0, 4)], 1, 3)
    own = [
        Allocation(0, 0, 0, 1, Origin.PREFETCHED),
        Allocation(0, 0, 2, 5, Origin.PREFETCHED, ready=3),
    ]
    spliced = splice(small, MemoryMap(tuple(own)))
    assert spliced == MemoryMap((fetched(0, 0, 1), fetched(2, 3, 4)))


def test_an_eviction_is_not_followed_by_a_write_beyond_the_window() -> None:
    problem = problem_of(
        [[writes(A)], [], [updates(A)], [reads(A)]], inputs=(False, True)
    )
    small = window_of(problem, [Allocation(A, 0, 0, 4)], 0, 2)
    evicted = Allocation(0, 0, 1, 4, eviction=Eviction(2, 2))
    spliced = splice(small, MemoryMap((evicted,)))
    assert spliced is not None
    assert check(problem, spliced) != ()
    assert not is_sound(problem, small, surroundings_of(problem, spliced))


@pytest.mark.parametrize(("limit", "sound"), [(1, False), (2, True)])
def test_copies_beyond_a_window_count_against_the_limit(
    limit: int, sound: bool
) -> None:
    problem = problem_of([[], [], [reads(A), reads(B)], []])
    engine = replace(problem.target.copy_engine, max_outstanding_prefetches=limit)
    problem = replace(problem, target=replace(problem.target, copy_engine=engine))
    one = fetched(0, 2, 3)
    two = replace(one, buffer=B, offset=8)
    small = window_of(problem, [one], 1, 2)
    assert is_sound(problem, small, surroundings_of(problem, MemoryMap((one,))))
    both = surroundings_of(problem, MemoryMap((one, two)))
    assert is_sound(problem, small, both) is sound


def random_windows(seed: int) -> Iterator[tuple[Problem, WindowProblem]]:
    """Windows of a random problem's random map, in which all or some may change."""
    random = np.random.default_rng(seed)
    problem = small_problem(seed, Sizes(8, 14, 3))
    whole = Random().solve(problem, Run(seed=seed)).map
    if whole is None or check(problem, whole):
        return
    surroundings = surroundings_of(problem, whole)
    for _ in range(4):
        low, high = sorted(random.integers(0, len(problem.program) + 1, 2).tolist())
        window = widened(problem.program, low, max(high, low + 1))
        crossings = [x for x in surroundings.crossings(window) if x.is_free]
        if seed % 2:
            crossings = [x for x in crossings if random.random() < 0.6]
        if len(window):
            yield problem, build_window(problem, surroundings, window, crossings)


@pytest.mark.parametrize("seed", range(30))
def test_the_present_map_is_valid_in_each_window_and_put_back_it_is_the_same(
    seed: int,
) -> None:
    for problem, small in random_windows(seed):
        require_same(problem, small)


@pytest.mark.parametrize("seed", range(30))
def test_each_answer_of_a_window_is_valid_in_the_whole_or_known_not_to_be(
    seed: int,
) -> None:
    for problem, small in random_windows(seed):
        for draw in range(3):
            answer = Random().solve(small.problem, Run(seed=draw)).map
            spliced = None if answer is None else splice(small, answer)
            if spliced is None:
                continue
            if is_sound(problem, small, surroundings_of(problem, spliced)):
                assert check(problem, spliced) == ()
                assert execute(problem, spliced) == ()


def test_iterations_give_the_same_map_again_and_never_a_worse_one() -> None:
    for seed in range(6):
        problem = small_problem(seed, Sizes(8, 14, 3))
        start = Random().solve(problem, Run(seed=seed)).map
        if start is None:
            continue
        run = Run(iterations=6, seed=1, warm_start=start)
        one = Windows(WindowsConfig(buffers=4)).solve(problem, run).map
        two = Windows(WindowsConfig(buffers=4)).solve(problem, run).map
        assert one is not None
        assert one == two
        assert check(problem, one) == ()
        simulate = Simulator(problem).simulate
        assert simulate(one).time_s <= simulate(start).time_s


def test_it_finds_what_is_best_where_one_window_holds_everything() -> None:
    # Three reads of a from slow memory take 24 s; fetched first, 8 + 3 * 2 = 14 s; left
    # there by the previous run it would take less, but windows leave that as it is.
    problem = problem_of([[reads(A)], [reads(A)], [reads(A)]])
    result = solve(problem, Windows(), iterations=20)
    assert result.time == pytest.approx(14)
