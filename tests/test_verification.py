"""``verify()``: whether a map is valid, and how far from optimal it is."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable
from dataclasses import replace

import bound_stand_ins
import pytest
from named_problems import CHAIN, FASTER, FASTEST, INVALID, SLOW

from hybridalloc import (
    Allocation,
    MemoryMap,
    Origin,
    Outcome,
    Problem,
    Run,
    Slice,
    Status,
    UsageError,
    Verdict,
    registry,
    verify,
)
from hybridalloc.registry import Entry
from hybridalloc.solver import UNANSWERED
from hybridalloc.solving import cutoff
from hybridalloc.target import CopyEngine

Script = Callable[[Problem, Run], Outcome]
ONE_PIECE = replace(
    CHAIN, target=replace(CHAIN.target, copy_engine=CopyEngine(max_slices=1))
)
"""The chain on a target that cuts no prefetch into slices."""


class Scripted:
    """A strategy that does what the test says."""

    def __init__(self, name: str) -> None:
        self.name = name

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Do it, and remember it."""
        SEEN.append((self.name, problem, run))
        return SCRIPTS[self.name](problem, run)


SCRIPTS: dict[str, Script] = {}
SEEN: list[tuple[str, Problem, Run]] = []


def cpsat() -> Scripted:
    return Scripted("cpsat")


def annealing() -> Scripted:
    return Scripted("annealing")


def keep(_: Problem, run: Run) -> Outcome:
    """Finds nothing better."""
    return Outcome(run.warm_start)


def finds(memory_map: MemoryMap, status: Status = Status.FEASIBLE) -> Script:
    return lambda problem, run: Outcome(memory_map, status)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> bound_stand_ins.Use:
    return bound_stand_ins.user(monkeypatch)


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Script]:
    """What the two strategies do; by default they find nothing better."""
    for name in ("cpsat", "annealing"):
        entry = Entry(f"{__name__}:{name}", "for tests")
        entries = {**registry.STRATEGIES, name: entry}
        monkeypatch.setattr(registry, "STRATEGIES", entries)
    SEEN.clear()
    SCRIPTS.update(cpsat=keep, annealing=keep)
    return SCRIPTS


def names() -> list[str]:
    """The strategies that were asked."""
    return [name for name, _, _ in SEEN]


def test_an_invalid_map_has_its_violations_and_no_more(
    use: bound_stand_ins.Use,
) -> None:
    bound = use(12.0)
    report = verify(CHAIN, INVALID)
    assert report.verdict is Verdict.INVALID
    assert len(report.violations) >= 1
    assert report.time is report.bound is report.gap is None
    assert bound.calls == []
    assert SEEN == []


def test_a_map_that_meets_the_bound_is_optimal_without_a_search(
    use: bound_stand_ins.Use,
) -> None:
    bound = use(24.0)
    report = verify(CHAIN, FASTEST)
    assert report.verdict is Verdict.OPTIMAL
    assert (report.time, report.bound, report.gap) == (24.0, 24.0, 0.0)
    assert (report.better, report.better_time) == (None, None)
    assert [x for _, x in bound.calls] == [cutoff(24.0)]
    assert SEEN == []


def test_a_map_that_no_search_improves_is_within_its_gap(
    use: bound_stand_ins.Use,
) -> None:
    use(20.0)
    report = verify(CHAIN, FASTEST, workers=2)
    assert (report.verdict, report.bound) == (Verdict.WITHIN, 20.0)
    assert report.gap == pytest.approx(0.2)  # 24 / 20 - 1
    assert names() == ["cpsat", "annealing"]
    assert all(run.warm_start == FASTEST for _, _, run in SEEN)
    assert all(run.workers == 2 for _, _, run in SEEN)


def test_a_faster_map_is_reported_with_its_own_gap(
    use: bound_stand_ins.Use, scripts: dict[str, Script]
) -> None:
    use(20.0)
    scripts["cpsat"] = finds(FASTER)
    scripts["annealing"] = finds(FASTEST)
    report = verify(CHAIN, SLOW)
    assert (report.verdict, report.better) == (Verdict.IMPROVED, FASTEST)
    assert (report.time, report.better_time) == (48.0, 24.0)
    assert report.improvement == 1.0  # 48 / 24 - 1
    assert report.gap == pytest.approx(1.4)  # 48 / 20 - 1
    assert report.better_gap == pytest.approx(0.2)  # 24 / 20 - 1
    assert not report.is_better_optimal
    assert SEEN[1][2].warm_start == FASTER


def test_the_exact_models_proof_counts_where_there_are_no_slices(
    use: bound_stand_ins.Use, scripts: dict[str, Script]
) -> None:
    use(20.0)
    scripts["cpsat"] = finds(FASTEST, Status.OPTIMAL)
    report = verify(ONE_PIECE, FASTEST)
    assert (report.verdict, report.bound) == (Verdict.OPTIMAL, 24.0)
    assert not report.unsliced_optimal
    better = verify(ONE_PIECE, FASTER)
    assert (better.verdict, better.better) == (Verdict.IMPROVED, FASTEST)
    assert better.is_better_optimal
    assert names() == ["cpsat", "cpsat"]


def test_a_map_within_the_tolerance_of_a_proven_one_is_not_itself_proven(
    use: bound_stand_ins.Use,
    scripts: dict[str, Script],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At a tolerance of 60 %, 20 s prove 24 s optimal, but not 36 s: 1.6 * 20 = 32.

    Nor is the one map counted as better than the other: 1.6 * 24 = 38.4.
    """
    use(20.0)
    for module in ("solver", "solving"):
        monkeypatch.setattr(f"hybridalloc.{module}.PROOF_TOLERANCE", 0.6)
    monkeypatch.setattr("hybridalloc.verification.PROOF_TOLERANCE", 0.6)
    scripts["cpsat"] = finds(FASTEST)
    report = verify(CHAIN, FASTER)
    assert (report.time, report.verdict) == (36.0, Verdict.WITHIN)
    assert report.gap == pytest.approx(0.8)  # 36 / 20 - 1
    assert names() == ["cpsat"]


def test_where_slices_are_allowed_the_proof_is_of_maps_without_them(
    use: bound_stand_ins.Use, scripts: dict[str, Script]
) -> None:
    use(20.0)
    scripts["cpsat"] = finds(FASTEST, Status.OPTIMAL)
    report = verify(CHAIN, FASTEST)
    assert (report.verdict, report.bound) == (Verdict.WITHIN, 20.0)
    assert report.unsliced_optimal
    assert [problem.target.copy_engine.max_slices for _, problem, _ in SEEN] == [1]


def test_a_map_with_slices_goes_to_the_exact_model_as_it_is(
    use: bound_stand_ins.Use,
) -> None:
    """W comes in two halves, issued at 0 and waited for at instruction 0's start."""
    use(1.0)
    halves = (Slice(4, 0), Slice(4, 0))
    sliced = MemoryMap((Allocation(0, 0, 0, 1, Origin.PREFETCHED, slices=halves),))
    assert verify(CHAIN, sliced).verdict is Verdict.WITHIN
    assert SEEN[0][1] is CHAIN


def test_a_large_program_is_not_given_to_the_exact_model(
    use: bound_stand_ins.Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(20.0)
    monkeypatch.setattr("hybridalloc.verification.MOST_EXACT_INSTRUCTIONS", 2)
    verify(CHAIN, FASTEST)
    assert names() == ["annealing"]


def test_the_bound_has_its_share_of_the_time(use: bound_stand_ins.Use) -> None:
    bound = use(24.0)
    verify(CHAIN, FASTEST, time_limit=1e6)
    assert bound.calls[0][0] == pytest.approx(0.4e6, rel=1e-3)


def test_ctrl_c_during_the_bound_ends_it_with_that_bound(
    use: bound_stand_ins.Use,
) -> None:
    use(20.0, interrupted=True)
    report = verify(CHAIN, FASTEST)
    assert (report.verdict, report.bound) == (Verdict.WITHIN, 20.0)
    assert SEEN == []


def test_ctrl_c_during_the_search_ends_it_with_the_map_so_far(
    use: bound_stand_ins.Use, scripts: dict[str, Script]
) -> None:
    def interrupted(_: Problem, run: Run) -> Outcome:
        run.report(FASTEST)
        signal.raise_signal(signal.SIGINT)
        return UNANSWERED

    use(20.0)
    scripts["cpsat"] = interrupted
    report = verify(CHAIN, SLOW)
    assert (report.verdict, report.better) == (Verdict.IMPROVED, FASTEST)
    assert names() == ["cpsat"]


def test_a_bound_that_a_map_refutes_is_left_out_with_a_warning(
    use: bound_stand_ins.Use, scripts: dict[str, Script]
) -> None:
    use(30.0)
    with pytest.warns(UserWarning, match="a defect in the lower bound"):
        report = verify(CHAIN, FASTEST)
    assert (report.verdict, report.bound, report.gap) == (Verdict.WITHIN, None, None)
    scripts["cpsat"] = finds(FASTEST)
    with pytest.warns(UserWarning, match="a defect in the lower bound"):
        report = verify(CHAIN, FASTER)
    assert (report.verdict, report.bound) == (Verdict.IMPROVED, None)


@pytest.mark.parametrize("seconds", [-1.0, math.inf, math.nan])
def test_a_time_limit_is_a_finite_number_of_seconds(seconds: float) -> None:
    with pytest.raises(UsageError, match="expected a finite number"):
        verify(CHAIN, FASTEST, time_limit=seconds)
