"""Each line of the cost tables, by hand; then the compiled coefficients against it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pytest

from hybridalloc.cost_model import elapsed, idle
from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import Access, Buffer, Instruction, Observation, Program
from hybridalloc.simulator import Simulator
from hybridalloc.target import MemorySpace, Target

# Slow memory: 1 B/s read, 2 B/s written. Fast memory: 10 B/s read, 20 B/s written.
# The clock makes one cycle half a second.
TARGET = Target(
    name="round",
    spaces=(MemorySpace("fast", 10, 20, 1000), MemorySpace("slow", 1, 2)),
    flops_per_second=1.0,
    clock_hz=2.0,
)
BUFFERS = tuple(Buffer(name, 100, is_input=True) for name in "abc")
# From slow memory 10 s for a, 20/2 = 10 s for b, 5 + 10/2 = 10 s for c; from fast
# memory each takes a tenth. Fast bytes: 10 for a, 20 for b, 15 for c.
ACCESSES = Access(0, read_bytes=10), Access(1, write_bytes=20), Access(2, 5, 10)


def problem(
    *observations: tuple[tuple[int, ...], float],
    compute_s: float = 0.0,
    accesses: tuple[Access, ...] = ACCESSES,
    model: CostModel = CostModel.CYCLES,
) -> Problem:
    """One instruction whose observations are (buffers in fast memory, seconds)."""
    seen = tuple(Observation(fast, 2 * seconds) for fast, seconds in observations)
    # The second instruction carries an estimate so that every case is a problem.
    last = Instruction("last", observations=(Observation((), 0.0),))
    instruction = Instruction("t", compute_s, accesses, observations=seen)
    return Problem(Program("p", (instruction, last), BUFFERS), TARGET, model)


def seconds(given: Problem, fast: Collection[int]) -> float:
    """Elapsed of instruction 0, by the reference, once the kernel has agreed."""
    found = elapsed(given, 0, fast)
    stays = tuple(Allocation(buffer, 0, 0, 2) for buffer in fast)
    assert Simulator(given).simulate(MemoryMap(stays)).time_s == pytest.approx(found)
    return found


@pytest.mark.parametrize(
    ("fast", "expected"),
    [
        ((), 30.0),  # 10 + 10 + 10
        ((0,), 21.0),  # 1 + 10 + 10
        ((1,), 21.0),  # 10 + 1 + 10
        ((0, 1, 2), 3.0),  # 1 + 1 + 1
    ],
)
def test_roofline_adds_the_traffic_of_both_memories(
    fast: tuple[int, ...], expected: float
) -> None:
    assert seconds(problem(model=CostModel.ROOFLINE), fast) == pytest.approx(expected)


def test_roofline_ignores_observations() -> None:
    given = problem(((), 99.0), model=CostModel.ROOFLINE)
    assert seconds(given, ()) == pytest.approx(30.0)


def test_compute_hides_memory_and_leaves_the_rest_idle() -> None:
    given = problem(compute_s=25.0, model=CostModel.ROOFLINE)
    assert seconds(given, (0,)) == pytest.approx(25.0)  # max(25, 1 + 10 + 10)
    assert idle(given, 0, (0,)) == pytest.approx(5.0)  # 25 - 20 s of slow traffic


def test_traffic_of_fast_memory_is_idle_time_for_copies() -> None:
    given = problem(model=CostModel.ROOFLINE)
    assert idle(given, 0, ()) == pytest.approx(0.0)  # 30 - 30
    assert idle(given, 0, (0, 1)) == pytest.approx(2.0)  # 12 - 10


def test_without_h_the_cycles_model_is_the_roofline() -> None:
    given = problem(((0,), 50.0))
    assert seconds(given, ()) == pytest.approx(30.0)
    assert seconds(given, (0,)) == pytest.approx(21.0)


@pytest.mark.parametrize(
    ("fast", "expected"),
    [
        ((), 40.0),  # h
        ((0,), 31.0),  # 40 - (30 - 21)
        ((0, 1, 2), 13.0),  # 40 - (30 - 3)
    ],
)
def test_without_m_what_the_roofline_gains_is_gained_on_h(
    fast: tuple[int, ...], expected: float
) -> None:
    assert seconds(problem(((), 40.0)), fast) == pytest.approx(expected)


@pytest.mark.parametrize("m", [35.0, 45.0])
def test_an_m_whose_buffers_move_no_bytes_counts_as_missing(m: float) -> None:
    accesses = (Access(0, read_bytes=10), Access(1), Access(2, 5, 10))
    given = problem(((), 40.0), ((1,), m), accesses=accesses)
    assert seconds(given, (0,)) == pytest.approx(31.0)  # 40 - (20 - 11)
    assert seconds(given, (1,)) == pytest.approx(40.0)  # 40 - (20 - 20)


@pytest.mark.parametrize(
    ("fast", "expected"),
    [
        ((), 60.0),  # h
        ((0, 1), 30.0),  # m: 60 - 30 * 30/30
        ((0,), 50.0),  # 60 - 30 * 10/30
        ((2,), 45.0),  # 60 - 30 * 15/30
        ((0, 1, 2), 30.0),  # never below m: 60 - 30 * 45/30 = 15
    ],
)
def test_between_h_and_m_the_gain_is_proportional_to_fast_bytes(
    fast: tuple[int, ...], expected: float
) -> None:
    assert seconds(problem(((), 60.0), ((0, 1), 30.0)), fast) == pytest.approx(expected)


def test_the_roofline_is_below_every_estimate() -> None:
    given = problem(((), 60.0), ((0, 1), 5.0))
    assert seconds(given, (0, 1)) == pytest.approx(12.0)  # max(1 + 1 + 10, 5)


def test_h_counts_as_at_least_the_roofline() -> None:
    # h = max(20, 30) = 30, so a gains (30 - 10) * 10/30 of the observed gain.
    given = problem(((), 20.0), ((0, 1), 10.0))
    assert seconds(given, ()) == pytest.approx(30.0)
    assert seconds(given, (0,)) == pytest.approx(30 - 20 / 3)


@pytest.mark.parametrize(
    ("fast", "expected"),
    [
        ((), 40.0),  # h
        ((0,), 55.0),  # m
        ((1,), 55.0),  # max(21, m)
    ],
)
def test_an_m_above_h_holds_as_soon_as_anything_is_fast(
    fast: tuple[int, ...], expected: float
) -> None:
    assert seconds(problem(((), 40.0), ((0,), 55.0)), fast) == pytest.approx(expected)


def test_an_m_above_h_that_is_below_the_roofline_gives_way_to_it() -> None:
    # h = max(1, 30) = 30 < m = 31; with compute 50 h = 50 >= m, hence the first row.
    given = problem(((), 1.0), ((0,), 31.0))
    assert seconds(given, (0, 1, 2)) == pytest.approx(31.0)
    slower = problem(((), 1.0), ((0,), 31.0), compute_s=50.0)
    assert seconds(slower, (0, 1, 2)) == pytest.approx(50.0)


@pytest.mark.parametrize(
    ("fast", "expected"),
    [
        ((0, 2), 33.0),  # the first observation of exactly a and c
        ((0, 1), 30.0),  # m; its second observation does not count
        ((1, 2), 12.0),  # observed at 4 s, but the roofline is 10 + 1 + 1
        ((2,), 45.0),  # not observed: 60 - 30 * 15/30
        ((), 60.0),  # h; its second observation does not count
    ],
)
def test_further_observations_hold_at_exactly_their_placement(
    fast: tuple[int, ...], expected: float
) -> None:
    given = problem(
        ((), 60.0),
        ((0, 1), 30.0),
        ((0, 2), 33.0),
        ((0, 2), 34.0),
        ((1, 2), 4.0),
        ((0, 1), 35.0),
        ((), 70.0),
    )
    assert seconds(given, fast) == pytest.approx(expected)


def test_further_observations_hold_without_h_too() -> None:
    given = problem(((0,), 50.0), ((0, 1), 44.0))
    assert seconds(given, (0, 1)) == pytest.approx(44.0)


def test_buffers_that_an_observation_names_but_nothing_accesses_do_not_count() -> None:
    accesses = ACCESSES[:2]
    given = problem(((), 60.0), ((0,), 40.0), ((1, 2), 15.0), accesses=accesses)
    assert seconds(given, (1,)) == pytest.approx(15.0)
    assert seconds(given, (1, 2)) == pytest.approx(15.0)


def random_problem(rng: np.random.Generator, model: CostModel) -> Problem:
    """A few instructions with random traffic and observations."""
    instructions = []
    for t in range(6):
        touched = np.flatnonzero(rng.random(len(BUFFERS)) < 0.7)
        seen = [
            Observation(
                tuple(np.flatnonzero(rng.random(len(BUFFERS)) < 0.5).tolist()),
                float(rng.integers(120)),
            )
            for _ in range(rng.integers(6))
        ]
        accesses = tuple(
            Access(int(b), int(rng.integers(20)), int(rng.integers(20)))
            for b in touched
        )
        instructions.append(
            Instruction(f"i{t}", float(rng.integers(30)), accesses, 0, tuple(seen))
        )
    anchor = Instruction("anchor", observations=(Observation((), 0.0),))
    program = Program("random", (*instructions, anchor), BUFFERS)
    return Problem(program, TARGET, model)


@pytest.mark.parametrize("model", CostModel)
@pytest.mark.parametrize("seed", range(40))
def test_the_compiled_coefficients_give_the_reference_times(
    seed: int, model: CostModel
) -> None:
    rng = np.random.default_rng(seed)
    given = random_problem(rng, model)
    simulator, count = Simulator(given), len(given.program)
    for mask in range(2 ** len(BUFFERS)):
        fast = [b for b in range(len(BUFFERS)) if mask >> b & 1]
        stays = MemoryMap(tuple(Allocation(b, 0, 0, count) for b in fast))
        expected = sum(elapsed(given, t, fast) for t in range(count))
        assert simulator.simulate(stays).time_s == pytest.approx(expected, rel=1e-12)
        assert min(idle(given, t, fast) for t in range(count)) >= -1e-12


@pytest.mark.parametrize("seed", range(10))
def test_repeated_instructions_count_as_often_as_they_run(seed: int) -> None:
    given = random_problem(np.random.default_rng(seed), CostModel.CYCLES)
    twice = replace(given.program, instructions=given.program.instructions * 2)
    once, both = Simulator(given), Simulator(replace(given, program=twice))
    assert both.slow_s == pytest.approx(2 * once.slow_s)
    assert both.fast_s == pytest.approx(2 * once.fast_s)
