"""The parts of ``lp``: dives, what they hold, and how copies and places are found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from named_problems import W, problem, reads, target, temporaries, writes

from hybridalloc.baselines.plan import Plan
from hybridalloc.bounds.linear_solver import LinearSolver
from hybridalloc.bounds.relaxation import Relaxation, relax
from hybridalloc.cpsat_models.rounding.dive import Diver, Manner
from hybridalloc.cpsat_models.rounding.holding import Holding, Holdings, StayFinder
from hybridalloc.cpsat_models.rounding.load import Load
from hybridalloc.cpsat_models.rounding.settling import settle
from hybridalloc.cpsat_models.rounding.slicing import place_sliced
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Slice
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer
from hybridalloc.stays import Stay

MANNER = Manner(batch=0.5, noise=0.0)


def crowded() -> Problem:
    """Of five temporaries that are live at once, two fit into 16 bytes."""
    made = [(writes(i),) for i in range(5)]
    used = [(reads(i),) for i in range(5)]
    return problem(temporaries(5), *made, *used, machine=target(16))


def relaxed(of: Problem) -> Relaxation:
    """Its relaxation, in seconds."""
    return relax(of, 1.0, math.inf)


def held_bytes(of: Problem, holdings: list[Holding]) -> list[int]:
    """The bytes that they hold at each instruction."""
    buffers = of.program.buffers
    return [
        sum(buffers[x.buffer].size for x in holdings if x.low <= t < x.high)
        for t in range(len(of.program))
    ]


def test_a_dive_decides_everything_within_capacity() -> None:
    relaxation = relaxed(crowded())
    solver = LinearSolver(relaxation.program)
    start = solver.solve(math.inf).values
    rng = np.random.default_rng(0)
    values = Diver(relaxation, solver).dive(start, (), MANNER, rng, math.inf)
    columns = np.array([stay.column for stay in relaxation.stays])
    assert np.abs(values[columns] - np.rint(values[columns])).max() < 1e-5
    holdings = list(Holdings(relaxation).of(values, 0.9))
    assert max(held_bytes(crowded(), holdings)) <= 16


def test_a_dive_holds_nothing_that_it_must_do_without() -> None:
    relaxation = relaxed(crowded())
    solver = LinearSolver(relaxation.program)
    start = solver.solve(math.inf).values
    rng = np.random.default_rng(0)
    without = [Holding(buffer, 0, 10) for buffer in range(4)]
    values = Diver(relaxation, solver).dive(start, without, MANNER, rng, math.inf)
    # Only the last temporary is left: written at instruction 4, read at 9.
    assert list(Holdings(relaxation).of(values, 0.9)) == [Holding(4, 4, 10)]


def test_what_is_held_without_a_break_is_one_holding() -> None:
    relaxation = relaxed(crowded())
    everything = np.ones(relaxation.program.cost.size)
    expected = [Holding(i, i, i + 6) for i in range(5)]
    assert list(Holdings(relaxation).of(everything, 0.9)) == expected


def test_nothing_is_held_below_the_threshold() -> None:
    relaxation = relaxed(crowded())
    half = np.full(relaxation.program.cost.size, 0.5)
    assert list(Holdings(relaxation).of(half, 0.9)) == []


def stay_of(of: Problem, holding: Holding) -> Stay:
    """Its stay, which there is."""
    stay = StayFinder(of, Loops(of.program)).stay(holding)
    assert stay is not None
    return stay


def test_a_holding_is_the_stay_of_the_accesses_within() -> None:
    stay = stay_of(crowded(), Holding(1, 1, 7))
    assert (stay.buffer, stay.instructions, stay.produced) == (1, (1, 6), True)


@pytest.mark.parametrize("holding", [Holding(1, 2, 6), Holding(0, 0, 1)])
def test_what_holds_no_access_or_no_bytes_is_no_stay(holding: Holding) -> None:
    buffers = (Buffer("empty", 0, is_input=True), *temporaries(1))
    of = problem(buffers, (Access(0),), (writes(1),), (), (), (), (), (reads(1),))
    assert StayFinder(of, Loops(of.program)).stay(holding) is None


def test_load_counts_whole_units_wherever_they_are() -> None:
    odd = Access(0, write_bytes=5, whole=True)
    of = problem((Buffer("odd", 5), Buffer("rest", 24)), (odd,), ())
    load, plan = Load(of), Plan(of, Loops(of.program))
    plan.space = load
    placed = plan.place(stay_of(of, Holding(0, 0, 1)))
    assert placed is not None
    # 32 bytes, in units of 4: 5 take 8, so 24 are left.
    assert load.may_fit(of.program.buffers[1], (0, 1))
    assert not load.may_fit(Buffer("more", 25), (0, 1))
    assert load.since(25, 2) == 1
    plan.take_out(placed)
    assert load.since(32, 2) == 0


def test_a_prefetch_that_saves_nothing_is_left_out() -> None:
    """Reading w takes 8 s of slow memory, less than the 20 s of computation."""
    of = problem((W,), (), (reads(0),), compute={1: 20.0})
    stay = stay_of(of, Holding(0, 1, 2))
    settled = settle(Plan(of, Loops(of.program)), [stay])
    assert settled.stays == ()
    assert settled.idle.tolist() == [0.0, 12.0]


def test_a_prefetch_that_saves_time_is_kept() -> None:
    of = problem((W,), (), (reads(0),), compute={0: 20.0})
    stay = stay_of(of, Holding(0, 1, 2))
    settled = settle(Plan(of, Loops(of.program)), [stay])
    assert settled.stays == (stay,)
    # From fast memory the read takes 8 / 4 s, during which slow memory is idle.
    assert settled.idle.tolist() == [20.0, 2.0]


def test_slices_are_issued_as_memory_becomes_free() -> None:
    """The weights take 8 s to copy; instructions 0 to 2 leave 4, 8 and 4 s idle.

    All 8 bytes are free at instruction 2 alone, in which 4 of them are copied; the
    others are issued at point 1, where 4 are free.
    """
    buffers = (W, Buffer("other", 4))
    other = Access(1, write_bytes=4, whole=True)
    of = problem(
        buffers,
        (other,),
        (Access(1, read_bytes=4),),
        (),
        (reads(0),),
        compute={0: 4.0, 1: 8.0, 2: 4.0},
        machine=target(8),
    )
    plan, load = Plan(of, Loops(of.program)), Load(of)
    plan.space = load
    assert plan.place(stay_of(of, Holding(1, 0, 2)))
    stay = stay_of(of, Holding(0, 3, 4))
    assert plan.place(stay) is None
    placed = place_sliced(plan, load, stay)
    assert placed is not None
    assert placed.allocations[0].slices == (Slice(4, 1), Slice(4, 2))


def test_what_is_held_from_the_start_is_a_cross_program_prefetch() -> None:
    """The weights are read at 1 and 3; until 3 they serve the first read alone."""
    of = problem((W,), (), (reads(0),), (), (reads(0),))
    finder = StayFinder(of, Loops(of.program))
    stay = finder.cross_program(Holding(0, 0, 3))
    assert stay is not None
    assert (stay.start, stay.instructions) == (0, (1,))
    assert finder.cross_program(Holding(0, 1, 4)) is None


def test_what_begins_as_a_cross_program_prefetch_is_never_left_out() -> None:
    """It saves nothing, as in the test of a prefetch that saves nothing."""
    of = problem((W,), (), (reads(0),), compute={1: 20.0})
    loops = Loops(of.program)
    stay = StayFinder(of, loops).cross_program(Holding(0, 0, 2))
    assert stay is not None
    settled = settle(Plan(of, loops), [], [stay])
    assert settled.cross_program == (stay,)
    assert settled.idle.tolist() == [0.0, 20.0]
