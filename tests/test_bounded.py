"""``bounded()``: what a lower bound proves of an answer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from named_problems import CHAIN, FASTER, FASTEST

from hybridalloc import MemoryMap, Outcome, Problem, Run, Status, bounded, solve
from hybridalloc.solver import UNANSWERED, Result, is_optimal
from hybridalloc.solving import cutoff


@dataclass(frozen=True)
class Finds:
    """A strategy that hands back an outcome."""

    outcome: Outcome

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Hand it back."""
        return self.outcome


def found(memory_map: MemoryMap, bound: float | None = None) -> Result:
    """The answer of a strategy that finds this map and proves this bound."""
    return solve(CHAIN, Finds(Outcome(memory_map, bound=bound)))


def test_a_bound_below_the_time_leaves_a_gap() -> None:
    result = bounded(found(FASTER), 30.0)
    assert (result.status, result.bound) == (Status.FEASIBLE, 30.0)
    assert result.gap == pytest.approx(0.2)  # 36 / 30 - 1


def test_a_bound_that_the_time_meets_proves_it_optimal() -> None:
    """24 s are within 1e-5 of 23.9998 s: 24 / 23.9998 = 1.0000083."""
    result = bounded(found(FASTEST), 23.9998)
    assert (result.status, result.bound) == (Status.OPTIMAL, 23.9998)
    assert bounded(found(FASTEST), 23.999).status is Status.FEASIBLE


def test_the_larger_of_two_bounds_counts() -> None:
    assert bounded(found(FASTEST, bound=20.0), 12.0).bound == 20.0
    assert bounded(found(FASTEST, bound=20.0), 22.0).bound == 22.0
    assert bounded(found(FASTEST, bound=24.0), 12.0).status is Status.OPTIMAL


def test_a_proof_that_there_is_no_map_stays_as_it_is() -> None:
    result = solve(CHAIN, Finds(Outcome(None, Status.INFEASIBLE)))
    assert bounded(result, 12.0) == bounded(result, math.inf) == result


def test_no_bound_changes_nothing() -> None:
    result = found(FASTEST)
    assert bounded(result, 0.0) == result


def test_a_bound_a_little_above_the_time_is_rounding() -> None:
    result = bounded(found(FASTEST), 24.0001)
    assert (result.status, result.bound, result.gap) == (Status.OPTIMAL, 24.0, 0.0)


@pytest.mark.parametrize("wrong", [24.1, math.inf])
def test_a_bound_that_the_answer_refutes_is_left_out_with_a_warning(
    wrong: float,
) -> None:
    result = found(FASTEST)
    with pytest.warns(UserWarning, match=r"a map of 24\.0 s is valid"):
        assert bounded(result, wrong) == result


def test_beside_a_refuted_bound_the_answers_own_stays() -> None:
    result = found(FASTEST, bound=20.0)
    with pytest.warns(UserWarning, match="a defect in the lower bound: 25"):
        assert bounded(result, 25.0) == result


def test_a_bound_that_meets_the_cutoff_proves_a_time_optimal() -> None:
    """Bounds are lowered by one part in 10^9 after they have met it."""
    assert bounded(found(FASTEST), cutoff(24.0)).status is Status.OPTIMAL
    assert is_optimal(24.0, cutoff(24.0) * (1 - 1e-9))
    assert cutoff(24.0) < 24.0


def test_without_a_map_an_infinite_bound_proves_that_there_is_none() -> None:
    unknown = solve(CHAIN, Finds(UNANSWERED))
    result = bounded(unknown, math.inf)
    assert (result.status, result.bound) == (Status.INFEASIBLE, None)
    result = bounded(unknown, 12.0)
    assert (result.status, result.bound) == (Status.UNKNOWN, 12.0)
