"""``solve()`` judges what strategies hand back, and keeps the best of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from named_problems import CHAIN, FASTER, FASTEST, INVALID, SLOW

from hybridalloc import (
    Chain,
    InputError,
    MemoryMap,
    Outcome,
    Problem,
    Run,
    Solver,
    Status,
    StrategyError,
    UsageError,
    Within,
    solve,
)
from hybridalloc.simulator import Simulation, Simulator
from hybridalloc.solver import UNANSWERED, Incumbent, Infeasibility, Result


@dataclass(frozen=True)
class Scripted:
    """A strategy that does what it is told."""

    script: Callable[[Run], Outcome]

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Do it."""
        return self.script(run)


def run_script(script: Callable[[Run], Outcome], **options: object) -> Result:
    """The result of a scripted strategy on the chain."""
    return solve(CHAIN, Scripted(script), **options)  # type: ignore[arg-type]


def test_the_three_maps_of_these_tests_are_ever_faster() -> None:
    """Their docstrings have the arithmetic."""
    simulator = Simulator(CHAIN)
    times = [simulator.simulate(x).time_s for x in (SLOW, FASTER, FASTEST)]
    assert times == [48.0, 36.0, 24.0]


def test_the_best_map_counts_even_if_a_worse_one_is_handed_back() -> None:
    def script(run: Run) -> Outcome:
        run.report(FASTER)
        run.report(FASTEST)
        return Outcome(SLOW)

    result = run_script(script)
    assert (result.map, result.time) == (FASTEST, 24.0)
    assert [incumbent.time for incumbent in result.history] == [36.0, 24.0]
    assert {incumbent.found_by for incumbent in result.history} == {"Scripted"}
    assert result.status is Status.FEASIBLE
    assert result.runtime >= result.history[-1].runtime


@pytest.mark.parametrize("end", [KeyboardInterrupt, TimeoutError])
def test_an_early_end_keeps_what_was_reported(end: type[BaseException]) -> None:
    def script(run: Run) -> Outcome:
        run.report(FASTER)
        raise end

    result = run_script(script)
    assert (result.map, result.status) == (FASTER, Status.FEASIBLE)


def test_an_early_end_without_a_map_is_unknown() -> None:
    def script(run: Run) -> Outcome:
        raise KeyboardInterrupt

    result = run_script(script)
    assert (result.map, result.status) == (None, Status.UNKNOWN)
    assert (result.time, result.gap, result.metrics) == (None, None, None)


def test_other_errors_of_a_strategy_are_not_hidden() -> None:
    def script(run: Run) -> Outcome:
        run.report(FASTER)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_script(script)


def test_an_invalid_answer_is_a_defect_of_the_strategy() -> None:
    with pytest.raises(StrategyError, match="Scripted handed back an invalid map: "):
        run_script(lambda run: Outcome(INVALID))


def test_an_invalid_report_is_a_defect_of_the_strategy() -> None:
    def script(run: Run) -> Outcome:
        run.report(INVALID)
        return Outcome(SLOW)

    with pytest.raises(StrategyError, match="invalid map"):
        run_script(script)


def test_a_strategy_starts_from_a_warm_start_and_never_ends_worse() -> None:
    given: list[MemoryMap | None] = []

    def script(run: Run) -> Outcome:
        given.append(run.warm_start)
        return Outcome(SLOW)

    result = run_script(script, warm_start=FASTER)
    assert given == [FASTER]
    assert (result.map, result.warm_start_used) == (FASTER, True)
    assert [incumbent.found_by for incumbent in result.history] == ["warm start"]


def test_an_invalid_warm_start_is_refused() -> None:
    with pytest.raises(UsageError, match="warm start is not a valid map: "):
        run_script(lambda run: Outcome(SLOW), warm_start=INVALID)


def test_the_callback_hears_of_better_maps_only() -> None:
    heard: list[Incumbent] = []

    def script(run: Run) -> Outcome:
        for memory_map in (FASTER, SLOW, FASTER, FASTEST):
            run.report(memory_map)
        return Outcome(FASTEST)

    result = run_script(script, callback=heard.append)
    assert [incumbent.map for incumbent in heard] == [FASTER, FASTEST]
    assert result.history == tuple(heard)


def test_a_bound_gives_a_gap() -> None:
    """24 / 20 - 1 = 0.2."""
    result = run_script(lambda run: Outcome(FASTEST, bound=20.0))
    assert result.gap == pytest.approx(0.2)
    assert result.status is Status.FEASIBLE


def test_a_proof_of_optimality_is_a_bound() -> None:
    result = run_script(lambda run: Outcome(FASTEST, Status.OPTIMAL))
    assert (result.status, result.bound, result.gap) == (Status.OPTIMAL, 24.0, 0.0)


def test_a_proof_of_optimality_outdoes_the_bound_beside_it() -> None:
    result = run_script(lambda run: Outcome(FASTEST, Status.OPTIMAL, bound=20.0))
    assert (result.bound, result.gap) == (24.0, 0.0)


def test_optimal_beside_a_faster_map_is_a_defect() -> None:
    outcome = Outcome(FASTER, Status.OPTIMAL)
    with pytest.raises(StrategyError, match=r"36\.0 s optimal, yet one of 24\.0 s is"):
        run_script(lambda run: outcome, warm_start=FASTEST)


def test_optimal_beside_a_slower_warm_start_is_none() -> None:
    outcome = Outcome(FASTEST, Status.OPTIMAL)
    result = run_script(lambda run: outcome, warm_start=FASTER)
    assert (result.map, result.status) == (FASTEST, Status.OPTIMAL)


@pytest.mark.parametrize("status", [Status.FEASIBLE, Status.OPTIMAL])
@pytest.mark.parametrize("bound", [24.001, math.inf, math.nan])
def test_a_bound_above_the_best_time_is_a_defect(status: Status, bound: float) -> None:
    with pytest.raises(StrategyError, match=r"bound of .* s, yet a map of 24\.0 s"):
        run_script(lambda run: Outcome(FASTEST, status, bound))


def test_a_bound_without_a_map_is_judged_by_the_warm_start() -> None:
    outcome = Outcome(None, Status.UNKNOWN, bound=40.0)
    with pytest.raises(StrategyError, match=r"a map of 36\.0 s is valid"):
        run_script(lambda run: outcome, warm_start=FASTER)


def test_a_bound_above_the_best_time_by_rounding_leaves_no_negative_gap() -> None:
    result = run_script(lambda run: Outcome(FASTEST, bound=24.0 * (1 + 1e-9)))
    assert (result.bound, result.gap) == (24.0, 0.0)


def test_a_map_that_was_reported_last_is_not_judged_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulated: list[MemoryMap] = []
    simulate = Simulator.simulate

    def counted(self: Simulator, memory_map: MemoryMap) -> Simulation:
        simulated.append(memory_map)
        return simulate(self, memory_map)

    def script(run: Run) -> Outcome:
        run.report(FASTER)
        run.report(FASTEST)
        return Outcome(FASTEST)

    monkeypatch.setattr(Simulator, "simulate", counted)
    assert run_script(script).map is FASTEST
    assert simulated == [FASTER, FASTEST]


@pytest.mark.parametrize(
    ("bound", "seconds", "gap"), [(0.0, 0.0, 0.0), (0.0, 1.0, math.inf)]
)
def test_the_gap_to_a_bound_of_nothing(
    bound: float, seconds: float, gap: float
) -> None:
    result = Result(
        strategy="s",
        seed=0,
        status=Status.FEASIBLE,
        map=SLOW,
        time=seconds,
        bound=bound,
        runtime=0.0,
        history=(),
        warm_start_used=False,
        metrics=None,
    )
    assert result.gap == gap


def test_a_proof_that_there_is_no_map_says_why() -> None:
    why = Infeasibility(instruction=2, excess_bytes=8, culprits=("x",))
    outcome = Outcome(None, Status.INFEASIBLE, infeasibility=why)
    result = run_script(lambda run: outcome)
    assert (result.status, result.infeasibility) == (Status.INFEASIBLE, why)


def test_infeasible_beside_a_valid_map_is_a_defect() -> None:
    outcome = Outcome(None, Status.INFEASIBLE)
    with pytest.raises(StrategyError, match="calls infeasible"):
        run_script(lambda run: outcome, warm_start=SLOW)


def test_a_status_says_whether_there_is_a_map() -> None:
    with pytest.raises(ValueError, match="status feasible with no map"):
        Outcome(None)
    with pytest.raises(ValueError, match="status unknown with a map"):
        Outcome(SLOW, Status.UNKNOWN)


def test_limits_reach_the_strategy() -> None:
    runs: list[Run] = []

    def script(run: Run) -> Outcome:
        runs.append(run)
        return UNANSWERED

    run_script(script, iterations=3, seed=5, workers=2)
    run_script(script, time_limit=0)
    run_script(script)
    first, second, third = runs
    assert (first.iterations, first.seed, first.workers) == (3, 5, 2)
    assert (first.remaining_s, first.expired) == (math.inf, False)
    assert (second.remaining_s, second.expired) == (0.0, True)
    assert 0 < third.remaining_s <= 60


def test_a_run_counts_down_to_its_deadline() -> None:
    run = Run(deadline=time.monotonic() + 100)
    assert 0 < run.remaining_s <= 100
    assert not run.expired
    run.report(SLOW)  # which nobody hears


def test_a_share_of_the_time_left_begins_now_and_ends_by_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At 20, of 80 s: a quarter is over at 40."""
    with monkeypatch.context() as patched:
        patched.setattr(time, "monotonic", lambda: 20.0)
        run = Run(deadline=100.0)
        assert [run.until(share) for share in (0, 0.25, 1)] == [20, 40, 100]
        assert [Run().until(share) for share in (0, 1)] == [math.inf, math.inf]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_limit": -1}, "time limit -1 is not >= 0"),
        ({"time_limit": math.nan}, "time limit nan is not >= 0"),
        ({"time_limit": "1"}, "time_limit '1': expected a number"),
        ({"iterations": 1.5}, r"iterations 1\.5: expected a whole number"),
        ({"seed": None}, "seed None: expected a whole number"),
        ({"workers": True}, "workers True: expected a whole number"),
        ({"warm_start": "input"}, "warm start 'input': expected a MemoryMap"),
        ({"iterations": -1}, "iterations -1 is negative"),
        ({"workers": 0}, "workers 0 is not >= 1"),
        ({"capacity": 4096}, "a problem carries its own"),
        ({"cost_model": "cycles"}, "a problem carries its own"),
        ({"max_slices": 1}, "a problem carries its own"),
    ],
)
def test_options_that_cannot_be_met_are_refused(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        run_script(lambda run: UNANSWERED, **options)


def test_a_path_takes_target_cost_model_and_capacity(bundled: Path) -> None:
    seen: list[Problem] = []

    class Look:
        def solve(self, problem: Problem, run: Run) -> Outcome:
            seen.append(problem)
            return UNANSWERED

    folder = bundled / "mixer_block_b128"
    solve(folder, Look())
    solve(str(folder), Look(), target="tpu-v4", cost_model="cycles", capacity=4096)
    assert [problem.target.name for problem in seen] == ["tpu-v4i", "tpu-v4"]
    assert [problem.cost_model for problem in seen] == ["roofline", "cycles"]
    assert [problem.target.capacity for problem in seen] == [128 * 2**20, 4096]


def test_a_path_takes_the_most_slices_of_a_prefetch(bundled: Path) -> None:
    seen: list[int] = []

    class Look:
        def solve(self, problem: Problem, run: Run) -> Outcome:
            seen.append(problem.target.copy_engine.max_slices)
            return UNANSWERED

    solve(bundled / "mixer_block_b128", Look())
    solve(bundled / "mixer_block_b128", Look(), max_slices=1)
    assert seen == [4, 1]


@pytest.mark.parametrize("capacity", [1.5, True, "16MiB"])
def test_a_capacity_that_is_no_whole_number_is_refused(
    bundled: Path, capacity: object
) -> None:
    folder = bundled / "mixer_block_b128"
    with pytest.raises(UsageError, match="expected a whole number of bytes"):
        solve(folder, "slow", capacity=capacity)  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", [None, 3, Scripted])
def test_what_is_no_strategy_is_refused(strategy: object) -> None:
    with pytest.raises(UsageError, match="expected a name or a solver object"):
        solve(CHAIN, strategy)  # type: ignore[arg-type]


def test_a_class_is_refused_with_what_was_perhaps_meant() -> None:
    with pytest.raises(UsageError, match=r"; did you mean Scripted\(\)\?$"):
        solve(CHAIN, Scripted)  # type: ignore[arg-type]


@pytest.mark.parametrize("composed", [lambda x: x, Chain, lambda x: Within(x, 5)])
@pytest.mark.parametrize(
    ("found", "message"), [(None, "None"), (MemoryMap(), "a MemoryMap")]
)
def test_what_is_no_outcome_is_the_strategys_mistake(
    composed: Callable[[Solver], Solver], found: object, message: str
) -> None:
    class Hasty:
        def solve(self, problem: Problem, run: Run) -> Outcome:
            return found  # type: ignore[return-value]

    said = f"strategy Hasty handed back {message}; expected an Outcome"
    with pytest.raises(StrategyError, match=said):
        solve(CHAIN, composed(Hasty()))


def test_what_is_no_problem_or_target_is_refused(bundled: Path) -> None:
    with pytest.raises(UsageError, match="problem 3: expected a Problem, a Stat"):
        solve(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="target 3: expected a target or its name"):
        solve(bundled / "mixer_block_b128", target=3)  # type: ignore[arg-type]


def test_a_time_that_is_not_finite_is_refused() -> None:
    """The two largest compute times already add up to infinity."""
    program = CHAIN.program
    instructions = [replace(x, compute_s=1e308) for x in program.instructions]
    endless = replace(program, instructions=tuple(instructions))
    with pytest.raises(UsageError, match="its time is not finite under target"):
        solve(replace(CHAIN, program=endless), "slow")


def test_a_path_that_is_no_problem_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        solve(tmp_path / "missing.json")
