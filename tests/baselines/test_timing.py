"""Savings are differences of the cost model's elapsed times."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import problems

from hybridalloc.baselines.timing import Timing
from hybridalloc.cost_model import elapsed, idle
from hybridalloc.problem import Problem


@settings(max_examples=150)
@given(problems(), st.data())
def test_times_follow_the_cost_model_as_accesses_move(
    problem: Problem, data: st.DataObject
) -> None:
    timing, program = Timing(problem), problem.program
    moved = sorted(data.draw(st.sets(st.sampled_from(range(len(program.buffers))))))
    fast: set[int] = set()
    for buffer in moved:
        at = [use.instruction for use in program.uses[buffer]]
        saved = timing.saving(buffer, at)
        before = timing.elapsed @ timing.runs
        timing.serve(buffer, at, fast=True)
        fast.add(buffer)
        assert saved == pytest.approx(before - timing.elapsed @ timing.runs, abs=1e-9)
    for t in range(len(program)):
        assert timing.elapsed[t] == pytest.approx(elapsed(problem, t, fast))
        assert timing.idle[t] == pytest.approx(idle(problem, t, fast), abs=1e-9)
    for buffer in moved:
        at = [use.instruction for use in program.uses[buffer]]
        timing.serve(buffer, at, fast=False)
    assert timing.elapsed.tolist() == Timing(problem).elapsed.tolist()


@settings(max_examples=50)
@given(problems())
def test_most_idle_is_the_time_with_everything_in_fast_memory(problem: Problem) -> None:
    everything = range(len(problem.program.buffers))
    expected = [idle(problem, t, everything) for t in range(len(problem.program))]
    assert Timing(problem).most_idle.tolist() == pytest.approx(expected)
