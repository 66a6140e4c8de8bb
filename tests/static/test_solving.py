from __future__ import annotations

import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from static_problems import exists, least_capacity, small_problems

from hybridalloc import BestOf, Chain, StaticResult, solve
from hybridalloc.baselines.belady import Belady
from hybridalloc.baselines.static.fits import Fits
from hybridalloc.errors import StrategyError, UsageError
from hybridalloc.io.minimalloc import read_buffers
from hybridalloc.solver import Run, Solver, Status
from hybridalloc.static.checker import check_offsets
from hybridalloc.static.problem import Gap, StaticBuffer, StaticProblem
from hybridalloc.static.solver import UNDECIDED, Placement
from hybridalloc.static.solving import solve_static

INSTANCES = ROOT.parent / "shared" / "instances" / "minimalloc"
ANSWERED = (Status.OPTIMAL, Status.FEASIBLE)


def problem_of(*sizes_and_lives: tuple[int, int, int], capacity: int) -> StaticProblem:
    buffers = [
        StaticBuffer(f"b{i}", size, start, end)
        for i, (size, start, end) in enumerate(sizes_and_lives)
    ]
    return StaticProblem("made", tuple(buffers), capacity)


@pytest.mark.parametrize("strategy", ["race", "packing"])
@given(problem=small_problems())
@settings(max_examples=150, deadline=None)
def test_a_complete_strategy_knows_whether_offsets_fit(
    strategy: str, problem: StaticProblem
) -> None:
    answer = solve_static(problem, strategy)
    if exists(problem):
        assert answer.status in ANSWERED
        assert answer.offsets is not None
        assert check_offsets(problem, answer.offsets) == ()
    else:
        assert answer.status is Status.INFEASIBLE
        assert answer.infeasibility is not None


@given(problem=small_problems(most=6, windows=False))
@settings(max_examples=300, deadline=None)
def test_the_branch_and_bound_is_complete_where_there_are_no_windows(
    problem: StaticProblem,
) -> None:
    answer = solve_static(problem, "branch-and-bound")
    assert (answer.status in ANSWERED) == exists(problem)
    assert (answer.status is Status.INFEASIBLE) != exists(problem)


@given(problem=small_problems())
@settings(max_examples=100, deadline=None)
def test_the_fits_never_say_infeasible_without_a_plain_reason(
    problem: StaticProblem,
) -> None:
    answer = solve_static(problem, "fits")
    if answer.status is Status.INFEASIBLE:
        assert not exists(problem)


@given(problem=small_problems(most=4), workers=st.sampled_from([1, 2]))
@settings(max_examples=60, deadline=None)
def test_the_least_capacity_is_found_and_proven(
    problem: StaticProblem, workers: int
) -> None:
    most = 20
    problem = replace(problem, capacity=most)
    answer = solve_static(problem, minimize_capacity=True, workers=workers)
    assert answer.peak_bytes == least_capacity(problem, most)
    assert answer.status in (Status.OPTIMAL, Status.INFEASIBLE)
    if answer.peak_bytes is not None:
        assert answer.bound_bytes == answer.peak_bytes


def test_one_unit_under_the_maximum_load_is_infeasible_and_says_why() -> None:
    problem = problem_of((6, 0, 4), (2, 0, 2), (4, 2, 7), (6, 4, 7), capacity=9)
    answer = solve_static(problem)
    assert answer.status is Status.INFEASIBLE
    assert answer.infeasibility is not None
    assert answer.infeasibility.instruction == 2
    assert answer.infeasibility.excess_bytes == 1
    assert answer.infeasibility.culprits == ("b0", "b2")
    assert answer.load.bytes == 10


def test_of_what_is_live_only_what_is_needed_for_the_proof_is_named() -> None:
    answer = solve_static(problem_of((8, 0, 2), (8, 0, 2), (1, 0, 2), capacity=15))
    assert answer.infeasibility is not None
    assert answer.infeasibility.excess_bytes == 2
    assert answer.infeasibility.culprits == ("b0", "b1")
    assert answer.load.buffers == ("b0", "b1", "b2")


def test_what_lies_between_aligned_buffers_counts_where_it_is_too_much() -> None:
    """At 5, three times 5 bytes take 8 + 8 + 5; at 0 just 20 are live."""
    alone = StaticBuffer("alone", 20, 0, 3, alignment=4)
    small = StaticBuffer("small", 1, 5, 7, alignment=4)
    three = [StaticBuffer(name, 5, 5, 7, alignment=4) for name in "abc"]
    problem = StaticProblem("aligned", (alone, small, *three), 20)
    found = solve_static(problem).infeasibility
    assert found is not None
    assert (found.instruction, found.excess_bytes) == (5, 5)
    assert found.culprits == ("a", "b", "c")
    assert "16 bytes are live at once, which take 25 bytes" in found.reason


def test_a_buffer_larger_than_the_memory_is_named() -> None:
    answer = solve_static(problem_of((4, 0, 2), (9, 5, 6), capacity=8))
    assert answer.infeasibility is not None
    assert answer.infeasibility.culprits == ("b1",)
    assert (answer.infeasibility.instruction, answer.infeasibility.excess_bytes) == (
        5,
        1,
    )


def test_buffers_of_no_bytes_or_no_life_take_no_space() -> None:
    problem = problem_of((8, 0, 9), (0, 0, 9), (8, 4, 4), capacity=8)
    assert solve_static(problem).status is Status.OPTIMAL


def test_buffers_that_are_all_pinned_are_where_they_are_pinned() -> None:
    a = StaticBuffer("a", 4, 0, 3, offset=4)
    b = StaticBuffer("b", 4, 2, 5, offset=0)
    answer = solve_static(StaticProblem("pinned", (a, b), 8))
    assert answer.offsets == (4, 0)
    answer = solve_static(StaticProblem("pinned", (a, replace(b, offset=2)), 8))
    assert answer.infeasibility is not None
    assert set(answer.infeasibility.culprits) == {"a", "b"}
    assert answer.infeasibility.instruction == 2


def test_buffers_may_share_bytes_in_each_other_s_gaps() -> None:
    a = StaticBuffer("a", 8, 0, 9, gaps=(Gap(3, 6),))
    b = StaticBuffer("b", 8, 3, 6)
    assert solve_static(StaticProblem("gap", (a, b), 8)).offsets == (0, 0)
    window = replace(a, gaps=(Gap(3, 6, (0, 2)),))
    answer = solve_static(StaticProblem("window", (window, b), 10))
    assert answer.offsets == (0, 2)
    assert solve_static(StaticProblem("window", (window, b), 9)).offsets is None


def test_what_is_reserved_stays_free() -> None:
    buffers = (StaticBuffer("a", 4, 0, 3), StaticBuffer("b", 4, 0, 3))
    problem = StaticProblem("reserved", buffers, 12, reserved=((2, 6),))
    assert solve_static(problem).status is Status.INFEASIBLE
    assert solve_static(replace(problem, capacity=14)).peak_bytes == 14


def test_what_is_reserved_counts_whole_in_the_excess() -> None:
    problem = StaticProblem("top", (StaticBuffer("a", 6, 0, 3),), 10, ((5, 100),))
    answer = solve_static(problem)
    assert answer.infeasibility is not None
    assert (answer.bound_bytes, answer.infeasibility.excess_bytes) == (101, 91)


def test_infeasible_beyond_the_load_is_proven_with_few_culprits() -> None:
    """Neither below the fixed buffer nor above it is there room for the large one."""
    buffers = (
        StaticBuffer("before", 3, 0, 2),
        StaticBuffer("large", 5, 2, 4),
        StaticBuffer("small", 2, 1, 4),
        StaticBuffer("fixed", 2, 2, 5, offset=4),
        StaticBuffer("after", 9, 5, 7),
    )
    problem = StaticProblem("split", buffers, 10)
    assert not exists(problem)
    for strategy in ("race", "branch-and-bound", "packing"):
        answer = solve_static(problem, strategy)
        assert answer.status is Status.INFEASIBLE
        assert answer.load.bytes == 9
        assert answer.infeasibility is not None
        assert answer.infeasibility.culprits == ("large", "fixed")
        assert answer.infeasibility.instruction == 2
        assert answer.infeasibility.excess_bytes == 1


def split_in_two(capacity: int) -> StaticProblem:
    """Of 8 + 8 bytes, none fit below the 4 fixed ones: with what is free, 20 needed."""
    free = (StaticBuffer("a", 8, 0, 2), StaticBuffer("b", 8, 0, 2))
    return StaticProblem(
        "split", (*free, StaticBuffer("fixed", 4, 0, 2, offset=4)), capacity
    )


def test_the_excess_is_up_to_the_next_capacity_that_is_possible() -> None:
    """All sizes and offsets are multiples of 4, so at least 24 bytes after 22."""
    problem = split_in_two(capacity=22)
    assert not exists(problem)
    answer = solve_static(problem, "packing")
    assert answer.infeasibility is not None
    assert answer.infeasibility.excess_bytes == 2
    assert answer.bound_bytes == 24
    assert solve_static(replace(problem, capacity=24)).status in ANSWERED


def test_ctrl_c_while_culprits_are_made_few_keeps_the_proof() -> None:
    class Interrupted:
        asked = 0

        def solve(self, problem: StaticProblem, run: Run) -> Placement:
            self.asked += 1
            if self.asked == 2:
                signal.raise_signal(signal.SIGINT)
            return Placement(is_impossible=True)

    answer = solve_static(split_in_two(capacity=22), Interrupted())
    assert answer.status is Status.INFEASIBLE
    assert answer.infeasibility is not None
    assert set(answer.infeasibility.culprits) == {"a", "b", "fixed"}


@pytest.mark.parametrize("kind", [SystemError, ImportError])
def test_ctrl_c_within_compiled_code_or_an_import_keeps_what_was_found(
    kind: type[Exception],
) -> None:
    class Improving:
        asked = 0

        def solve(self, problem: StaticProblem, run: Run) -> Placement:
            self.asked += 1
            if self.asked > 1:
                raise kind("instead of Ctrl-C") from KeyboardInterrupt()
            return Placement((8, 4))

    problem = problem_of((4, 0, 2), (4, 1, 3), capacity=12)
    answer = solve_static(problem, Improving(), minimize_capacity=True)
    assert (answer.status, answer.offsets) == (Status.FEASIBLE, (8, 4))


def test_a_time_out_is_unknown_and_never_infeasible() -> None:
    problem = problem_of((4, 0, 2), (4, 1, 3), capacity=8)
    assert solve_static(problem, time_limit=0.0).status is Status.UNKNOWN


def test_offsets_found_as_time_runs_out_are_kept() -> None:
    asked = iter([False])
    run = Run(is_over=lambda: next(asked, True))
    found = Fits().solve(problem_of((4, 0, 2), (4, 1, 3), capacity=8), run)
    assert found.offsets is not None


def test_offsets_that_break_a_rule_are_a_strategy_s_defect() -> None:
    class Wrong:
        def solve(self, problem: StaticProblem, run: Run) -> Placement:
            return Placement((0,) * len(problem))

    with pytest.raises(StrategyError, match="both from instant 1"):
        solve_static(problem_of((4, 0, 2), (4, 1, 3), capacity=8), Wrong())


def test_what_is_no_placement_is_a_strategy_s_defect() -> None:
    class Wrong:
        def solve(self, problem: StaticProblem, run: Run) -> Any:
            return (0, 4)

    with pytest.raises(StrategyError, match=r"Wrong: expected a Placement, got \(0, 4"):
        solve_static(problem_of((4, 0, 2), (4, 1, 3), capacity=8), Wrong())


def test_a_strategy_is_told_the_limits_and_the_seed() -> None:
    runs: list[Run] = []

    class Watched:
        def solve(self, problem: StaticProblem, run: Run) -> Placement:
            runs.append(run)
            return UNDECIDED

    problem, begun = problem_of((4, 0, 2), capacity=8), time.monotonic()
    answer = solve_static(problem, Watched(), time_limit=30, seed=7, workers=3)
    assert (answer.strategy, answer.status) == ("Watched", Status.UNKNOWN)
    assert [(x.seed, x.workers, x.iterations) for x in runs] == [(7, 3, None)]
    assert begun + 30 <= runs[0].deadline <= begun + 60


def test_what_is_no_solver_is_refused() -> None:
    with pytest.raises(UsageError, match="expected a name or a solver object"):
        solve(problem_of((4, 0, 2), capacity=8), Placement())  # type: ignore[arg-type]


@pytest.mark.parametrize("solver", [BestOf("msa", "greedy"), Chain("msa"), Belady()])
def test_a_solver_for_programs_is_refused(solver: Solver) -> None:
    path = ROOT / "examples" / "static" / "sensor.10.csv"
    with pytest.raises(UsageError, match="for programs; expected one for static alloc"):
        solve(path, solver)


def test_a_solver_for_static_allocation_solves_no_program(bundled: Path) -> None:
    with pytest.raises(UsageError, match="static allocation; expected one for program"):
        solve(bundled / "gcn3_train_n4096", Fits())


def test_a_wrong_name_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'packing'"):
        solve_static(problem_of((4, 0, 2), capacity=8), "pakcing")


@pytest.mark.parametrize("path", sorted(INSTANCES.glob("*.csv")), ids=lambda x: x.name)
def test_the_shared_instances_fit_their_capacities(path: Path) -> None:
    problem = read_buffers(path)
    answer = solve_static(problem, workers=2)
    assert answer.status in ANSWERED


def test_the_example_fits_the_capacity_in_its_name() -> None:
    answer = solve_static(read_buffers(ROOT / "examples" / "static" / "sensor.10.csv"))
    assert (answer.status, answer.peak_bytes) == (Status.OPTIMAL, 10)


def test_solve_races_the_strategies_of_a_static_problem_or_a_file() -> None:
    path = ROOT / "examples" / "static" / "sensor.10.csv"
    for problem in (path, str(path), read_buffers(path)):
        result = solve(problem)
        assert isinstance(result, StaticResult)
        assert (result.strategy, result.status) == ("race", Status.OPTIMAL)
        assert result.offsets is not None
        assert check_offsets(read_buffers(path), result.offsets) == ()
        assert result.metrics is not None
        assert result.metrics.peak_bytes == result.peak_bytes == 10


def test_solve_takes_the_capacity_of_a_file_and_looks_for_the_least() -> None:
    path = ROOT / "examples" / "static" / "sensor.10.csv"
    found = solve(path, "hybrid", capacity=9)
    assert found.status is Status.INFEASIBLE
    assert found.infeasibility is not None
    assert found.infeasibility.instruction == 2
    least = solve(path, capacity=99, minimize_capacity=True)
    assert least.metrics is not None
    assert least.metrics.peak_bytes == 10


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strategy": "greedy"}, "strategy 'greedy' is for programs"),
        ({"target": "tpu-v4i"}, "target: says nothing of a static problem"),
        ({"iterations": 3}, "iterations: says nothing of a static problem"),
        ({"robust": True}, "robust: says nothing of a static problem"),
        ({"capacity": "4KiB"}, "capacity '4KiB': expected a whole number"),
        ({"time_limit": float("nan")}, "time limit nan is not >= 0"),
        ({"strategy": "race(share=2)"}, "share 2.0 is not in"),
        ({"strategy": "branch-and-bound(first_nodes=0)"}, "first_nodes 0 is not >= 1"),
    ],
)
def test_solve_refuses_what_says_nothing_of_a_static_problem(
    options: dict[str, Any], words: str
) -> None:
    path = ROOT / "examples" / "static" / "sensor.10.csv"
    with pytest.raises(UsageError, match=words):
        solve(path, **options)


def test_a_program_has_no_least_capacity(bundled: Path) -> None:
    with pytest.raises(UsageError, match="minimize_capacity: expected a static"):
        solve(bundled / "gcn3_train_n4096", "slow", minimize_capacity=True)


@pytest.mark.parametrize("strategy", ["fits", "packing"])
def test_hints_that_fit_are_taken(strategy: str) -> None:
    """Alone, first fit places the larger buffer at 0."""
    a = StaticBuffer("a", 4, 0, 3, hint=0)
    b = StaticBuffer("b", 6, 0, 3, hint=4)
    assert solve_static(StaticProblem("hints", (a, b), 10), strategy).offsets == (0, 4)


def test_hints_between_what_is_canonical_do_not_hide_the_least_capacity() -> None:
    problem = StaticProblem("hint", (StaticBuffer("a", 4, 0, 3, hint=1),))
    answer = solve_static(problem, minimize_capacity=True)
    assert (answer.status, answer.peak_bytes) == (Status.OPTIMAL, 4)


def test_hints_that_do_not_fit_are_passed_over() -> None:
    a = StaticBuffer("a", 4, 0, 3, hint=9)
    b = StaticBuffer("b", 6, 0, 3, hint=90)
    answer = solve_static(StaticProblem("hints", (a, b), 10), "fits")
    assert answer.status is Status.OPTIMAL


def test_what_all_buffers_take_together_is_limited() -> None:
    buffers = tuple(StaticBuffer(f"b{i}", 2**52, 0, 3) for i in range(300))
    with pytest.raises(ValueError, match="all buffers together may take"):
        StaticProblem("huge", buffers)
