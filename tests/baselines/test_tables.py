"""The arrays of a plan agree with its map, whatever was put in and taken out."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import problems

from hybridalloc import Problem, solve
from hybridalloc.baselines.adoption import adopt
from hybridalloc.baselines.edits import Edits
from hybridalloc.baselines.plan import Plan
from hybridalloc.loops import Loops
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Run


@settings(max_examples=60)
@given(problems(), st.integers(0, 9))
def test_the_time_is_that_of_the_plans_map_after_each_edit(
    problem: Problem, seed: int
) -> None:
    memory_map = solve(problem, "random", iterations=1, seed=seed).map
    assert memory_map is not None
    plan, simulator = Plan(problem, Loops(problem.program)), Simulator(problem)
    adopt(plan, memory_map, Run())
    edits, random = Edits(plan, simulator), Random(seed)
    stays = [one for group in plan.placed for one in group]
    for placed in random.sample(stays, len(stays)):
        edits.take_out(placed)
        if random.random() < 0.5:
            edits.put(placed)
        expected = simulator.simulate(plan.memory_map()).time_s
        assert edits.time() == pytest.approx(expected, rel=1e-12)


@settings(max_examples=60)
@given(problems(), st.integers(0, 9))
def test_undo_takes_back_everything_since_keep(problem: Problem, seed: int) -> None:
    memory_map = solve(problem, "random", iterations=1, seed=seed).map
    assert memory_map is not None
    plan = Plan(problem, Loops(problem.program))
    adopt(plan, memory_map, Run())
    edits = Edits(plan, Simulator(problem))
    stays = [one for group in plan.placed for one in group]
    if stays:
        edits.take_out(stays[0])
    edits.keep()
    kept, seconds = plan.memory_map(), edits.time()
    for placed in stays[1:]:
        edits.take_out(placed)
        edits.place(placed.stay, may_stall=True)
    edits.undo()
    assert edits.is_empty
    assert plan.memory_map() == kept
    assert edits.time() == pytest.approx(seconds, rel=1e-12)
