"""Strategies that build maps keep to the rules on random problems too."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import problems

from hybridalloc import Problem, Status, solve
from hybridalloc.baselines.pins import pinned
from hybridalloc.oracle import execute
from hybridalloc.simulator import Simulator


@settings(max_examples=150, deadline=None)
@given(problems(pinned=True), st.sampled_from(["greedy", "random"]), st.integers(0, 9))
def test_maps_are_valid_and_no_copy_is_waited_for_longer_than_it_takes(
    problem: Problem, strategy: str, seed: int
) -> None:
    """That the checker is silent is what ``solve`` sees to."""
    result = solve(problem, strategy, iterations=1, seed=seed)
    if result.map is None or result.metrics is None:
        assert pinned(problem.program)
        assert result.status is Status.UNKNOWN
        return
    assert execute(problem, result.map) == ()
    slow = problem.target.slow
    if problem.target.copy_engine.startup_s == 0:
        slowest = min(slow.read_bandwidth, slow.write_bandwidth)
        work_s = result.metrics.moved_bytes / slowest
        assert result.metrics.stall_s <= work_s * (1 + 1e-9)


@settings(max_examples=50, deadline=None)
@given(problems())
def test_greedy_is_never_slower_than_everything_in_slow_memory(
    problem: Problem,
) -> None:
    result = solve(problem, "greedy", iterations=1)
    assert result.time is not None
    assert result.time <= Simulator(problem).slow_s
