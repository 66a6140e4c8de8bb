"""The robust objective: worse than a given map under neither cost model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from named_problems import CHAIN, FASTER, FASTEST, SLOW, TWO_MODELS, Y_ALONE, observed
from strategies import problems

from hybridalloc import (
    BestOf,
    Chain,
    FirstOf,
    MemoryMap,
    Outcome,
    Problem,
    Run,
    Solver,
    Status,
    UsageError,
    bounded,
    solve,
)
from hybridalloc.objective import MODELS, Robust, Time, score
from hybridalloc.problem import CostModel
from hybridalloc.simulator import simulate

CYCLES = replace(TWO_MODELS, cost_model=CostModel.CYCLES)


@dataclass
class Finds:
    """Reports these maps and hands back the last."""

    maps: tuple[MemoryMap, ...]
    status: Status = Status.FEASIBLE

    def solve(self, problem: Problem, run: Run) -> Outcome:
        for memory_map in self.maps:
            run.report(memory_map)
        return Outcome(self.maps[-1], self.status)


def finds(*maps: MemoryMap) -> Finds:
    return Finds(maps)


@pytest.mark.parametrize(
    ("memory_map", "times_s"),
    [
        (SLOW, (48, 76)),
        (FASTER, (36, 80)),
        (Y_ALONE, (36, 50)),
        (FASTEST, (24, 54)),
    ],
)
def test_the_times_are_those_under_each_model(
    memory_map: MemoryMap, times_s: tuple[float, float]
) -> None:
    assert Robust.against(TWO_MODELS, SLOW).times_s(memory_map) == times_s
    assert Robust.against(CYCLES, SLOW).times_s(memory_map) == times_s


def test_the_score_is_the_geometric_mean_of_the_two_ratios() -> None:
    robust = Robust.against(TWO_MODELS, SLOW)
    assert robust.limits_s == (48, 76)
    assert robust.score(SLOW) == 1
    assert math.isclose(robust.score(Y_ALONE), math.sqrt(36 / 48 * 50 / 76))
    assert math.isclose(robust.score(FASTEST), math.sqrt(24 / 48 * 54 / 76))
    assert robust.speedups((24, 54)) == (2, 76 / 54)


def test_a_map_that_is_worse_under_either_model_does_not_count() -> None:
    against_slow = Robust.against(TWO_MODELS, SLOW)
    assert against_slow.score(FASTER) == math.inf  # 36 < 48, but 80 > 76
    against_y = Robust.against(TWO_MODELS, Y_ALONE)
    assert against_y.score(FASTEST) == math.inf  # 24 < 36, but 54 > 50
    assert against_y.score(SLOW) == math.inf


def test_not_even_a_rounding_error_is_let_through() -> None:
    assert score((1.0, 2.0), (1.0, 2.0)) == 1
    assert score((1.0, math.nextafter(2.0, 3.0)), (1.0, 2.0)) == math.inf
    assert score((math.nan, 2.0), (1.0, 2.0)) == math.inf


def test_a_program_that_takes_no_time_cannot_take_less() -> None:
    assert score((0.0, 1.0), (0.0, 4.0)) == 0.5
    assert score((1e-9, 1.0), (0.0, 4.0)) == math.inf


def test_the_plain_objective_is_the_time_under_the_problems_own_model() -> None:
    assert Time(TWO_MODELS).score(FASTEST) == 24
    assert Time(CYCLES).score(FASTEST) == 54
    assert Run().objective_of(CYCLES) == Time(CYCLES)
    robust = Robust.against(CYCLES, SLOW)
    assert Run(objective=robust).objective_of(CYCLES) is robust


def test_under_the_learned_model_that_is_the_second_one() -> None:
    """It needs no estimates: the program is without them here."""
    learned = replace(CHAIN, cost_model=CostModel.LEARNED)
    robust = Robust.against(learned, SLOW)
    slow_s = robust.times_s(SLOW)
    assert robust.by_model(slow_s) == {
        "roofline": Time(CHAIN).score(SLOW),
        "learned": Time(learned).score(SLOW),
    }
    result = solve(learned, "slow", robust=True, warm_start=SLOW)
    assert result.times_s == robust.by_model(slow_s)
    assert result.speedups_vs_start == {"roofline": 1.0, "learned": 1.0}


def test_an_objective_of_other_models_or_endless_times_is_refused() -> None:
    with pytest.raises(ValueError, match="cost models"):
        Robust((CYCLES, TWO_MODELS), (1.0, 1.0))
    with pytest.raises(ValueError, match="a cycles time of inf s, not finite"):
        Robust((TWO_MODELS, CYCLES), (1.0, math.inf))


def test_without_estimates_or_a_warm_start_there_is_no_robust_search() -> None:
    with pytest.raises(UsageError, match="program named has no compiler"):
        solve(CHAIN, "slow", robust=True, warm_start=SLOW)
    with pytest.raises(UsageError, match="robust: expected a warm start"):
        solve(TWO_MODELS, "slow", robust=True)


def test_what_only_the_problems_own_model_prefers_is_not_taken() -> None:
    result = solve(TWO_MODELS, finds(FASTER), robust=True, warm_start=SLOW)
    assert result.map == SLOW
    assert result.times_s == {"roofline": 48, "cycles": 76}
    assert result.speedups_vs_start == {"roofline": 1, "cycles": 1}


def test_the_time_may_rise_while_the_score_falls() -> None:
    result = solve(CYCLES, finds(Y_ALONE, FASTEST), robust=True, warm_start=SLOW)
    assert [incumbent.time for incumbent in result.history] == [76, 50, 54]
    assert (result.map, result.time) == (FASTEST, 54)
    assert result.times_s == {"roofline": 24, "cycles": 54}
    assert result.speedups_vs_start == {"roofline": 2, "cycles": 76 / 54}


def test_a_plain_search_says_nothing_of_the_other_model() -> None:
    result = solve(CYCLES, finds(Y_ALONE, FASTEST), warm_start=SLOW)
    assert [incumbent.time for incumbent in result.history] == [76, 50]
    assert result.times_s is None
    assert result.speedups_vs_start is None


def test_that_a_time_is_optimal_proves_nothing_of_the_score() -> None:
    solver = Finds((Y_ALONE,), Status.OPTIMAL)
    plain = solve(CYCLES, solver, warm_start=SLOW)
    assert (plain.status, plain.bound) == (Status.OPTIMAL, 50)
    result = solve(CYCLES, solver, robust=True, warm_start=SLOW)
    assert (result.status, result.bound) == (Status.FEASIBLE, None)
    result = bounded(result, 50)
    assert (result.status, result.bound, result.gap) == (Status.FEASIBLE, 50, 0)


def test_a_bound_below_an_earlier_incumbent_is_no_contradiction() -> None:
    """It is one of time: what is refuted is a bound above the least of all times."""

    class Bounds:
        def solve(self, problem: Problem, run: Run) -> Outcome:
            run.report(Y_ALONE)
            return Outcome(FASTEST, bound=50)

    result = solve(CYCLES, Bounds(), robust=True, warm_start=SLOW)
    assert (result.time, result.bound) == (54, 50)


@pytest.mark.parametrize("combinator", [BestOf, Chain])
def test_a_composition_judges_its_members_by_the_score(
    combinator: type[BestOf] | type[Chain],
) -> None:
    solver = combinator(
        finds(FASTER), Finds((Y_ALONE,), Status.OPTIMAL), finds(FASTEST), finds(SLOW)
    )
    result = solve(CYCLES, solver, robust=True, warm_start=SLOW)
    assert result.map == FASTEST
    assert solve(CYCLES, solver, warm_start=SLOW).map == Y_ALONE


def test_the_first_of_several_is_the_first_with_a_map_that_counts() -> None:
    solver = FirstOf(finds(FASTER), finds(Y_ALONE), finds(FASTEST))
    assert solve(CYCLES, solver, robust=True, warm_start=SLOW).map == Y_ALONE


def test_each_of_a_chain_starts_from_the_map_of_the_least_score() -> None:
    starts = []

    class Remembers:
        def solve(self, problem: Problem, run: Run) -> Outcome:
            starts.append(run.warm_start)
            return Outcome(FASTER)

    solver = Chain(Remembers(), finds(Y_ALONE, FASTEST), Remembers())
    assert solve(CYCLES, solver, robust=True, warm_start=SLOW).map == FASTEST
    assert starts == [SLOW, FASTEST]


@pytest.mark.parametrize("combinator", [FirstOf, BestOf, Chain])
def test_after_the_deadline_nobody_is_asked_as_the_warm_start_is_an_answer(
    combinator: type[FirstOf] | type[BestOf] | type[Chain],
) -> None:
    class Late:
        def solve(self, problem: Problem, run: Run) -> Outcome:
            raise AssertionError

    members: list[Solver] = [finds(FASTER), Late()]
    solver = combinator(*(members if combinator is not Chain else members[1:]))
    result = solve(CYCLES, solver, robust=True, warm_start=SLOW, time_limit=0)
    assert result.map == SLOW


@settings(max_examples=30)
@given(problems(), st.sampled_from(["random", "greedy", "best(greedy,random)>random"]))
def test_the_answer_is_worse_under_neither_model(
    problem: Problem, strategy: str
) -> None:
    problem = observed(problem)
    start = solve(problem, "random", iterations=1, seed=5).map
    assert start is not None
    found = solve(problem, strategy, iterations=2, robust=True, warm_start=start)
    assert found.map is not None
    for model in MODELS:
        judged = replace(problem, cost_model=model)
        time_s = simulate(judged, found.map).time_s
        assert time_s <= simulate(judged, start).time_s
        assert found.times_s is not None
        assert found.times_s[model] == time_s


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("start", [SLOW, FASTER, Y_ALONE, FASTEST])
def test_after_lp_which_looks_at_time_alone_a_search_loses_nothing(
    start: MemoryMap, model: CostModel
) -> None:
    """What ``lp`` finds counts only if it is worse under neither model."""
    problem = replace(TWO_MODELS, cost_model=model)
    alone = solve(problem, "lp", iterations=2, robust=True, warm_start=start)
    both = solve(problem, "lp>search", iterations=2, robust=True, warm_start=start)
    assert alone.map is not None
    assert both.map is not None
    score_of = Robust.against(problem, start).score
    assert score_of(both.map) <= score_of(alone.map) <= score_of(start) == 1
