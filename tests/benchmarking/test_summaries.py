"""Means, wins and losses, pairs and curves, by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from trial_records import ANSWER, failure, proof, search

from hybridalloc.benchmarking.comparisons import by_family, by_size, pairs
from hybridalloc.benchmarking.measurements import BEST, XLA, Section, sections
from hybridalloc.benchmarking.quality import quality
from hybridalloc.benchmarking.records import TrialRecord
from hybridalloc.benchmarking.summaries import summaries, summarize

TWO = (
    search("a", "fast", 1.0),
    search("b", "fast", 2.0, slow_s=6.0),
    search("a", "late", 4.0),
    search("b", "late", 1.0, slow_s=6.0),
)
"""XLA takes 2 s on both."""


def only(records: tuple[TrialRecord, ...]) -> Section:
    (section,) = sections(records)
    return section


def test_speed_ups_have_geometric_means() -> None:
    """Of fast over XLA sqrt(2 * 1), over all-slow sqrt(4 * 3); late: sqrt(0.5 * 2)."""
    fast, late, best, xla = summaries(only(TWO))
    assert fast.strategy == "fast"
    assert fast.vs_xla == pytest.approx(math.sqrt(2))
    assert fast.vs_slow == pytest.approx(math.sqrt(12))
    assert late.vs_xla == pytest.approx(1.0)
    assert (late.worst_vs_xla, late.worst_program) == (0.5, "a")
    assert (best.strategy, best.runs) == (BEST, 2)
    assert best.vs_xla == pytest.approx(2.0)
    assert (xla.strategy, xla.vs_xla) == (XLA, 1.0)
    assert xla.vs_slow == pytest.approx(math.sqrt(2 * 3))


def test_an_input_without_xla_s_answer_counts_against_all_slow_alone() -> None:
    section = only((search("a", "s", 1.0), search("b", "s", 1.0, xla_s=None)))
    (summary, xla) = summaries(section)
    assert summary.vs_xla == 2.0
    assert summary.vs_slow == 4.0
    assert (summary.runs, xla.runs) == (2, 1)
    assert summary.wins + summary.ties + summary.losses == 1


def test_wins_and_losses_are_beyond_the_tolerance() -> None:
    """XLA takes 2 s, the tolerance is a tenth: ties are from 1.8 s to 2.2 s."""
    times = {"a": 1.79, "b": 1.81, "c": 2.0, "d": 2.19, "e": 2.21, "f": 3.0}
    section = only(tuple(search(name, "s", time) for name, time in times.items()))
    summary = summarize("s", section.measurements, tolerance=0.1)
    assert (summary.wins, summary.ties, summary.losses) == (1, 3, 2)
    assert summary.worst_program == "f"


def test_gaps_are_over_the_best_bound_and_over_its_own() -> None:
    """Times 1 and 2: over 0.8 and 1, gaps of 0.25 and 1; the own bound is 0.5."""
    records = (
        search("a", "s", 1.0, bound_s=0.5),
        search("b", "s", 2.0),
        search("c", "s", 1.0),
        proof("a", 0.8),
        proof("b", 1.0),
    )
    summary = summarize("s", only(records).measurements)
    assert summary.gap is not None
    assert summary.own_gap is not None
    assert (summary.gap.count, summary.own_gap.count) == (2, 1)
    assert summary.gap.median == pytest.approx(0.625)
    assert summary.gap.mean == pytest.approx(math.sqrt(1.25 * 2) - 1)
    assert summary.own_gap.median == pytest.approx(1.0)


def test_the_bound_of_one_strategy_counts_for_all() -> None:
    records = (search("a", "p", 1.0, bound_s=0.9), search("a", "q", 1.8))
    p, q = only(records).measurements
    assert p.gap == p.own_gap == pytest.approx(1 / 9)
    assert q.gap == pytest.approx(1.0)
    assert q.own_gap is None


def test_the_bound_of_another_capacity_counts_for_nothing() -> None:
    bound = proof("a", 0.9)
    elsewhere = replace(bound.trial, given_capacity_bytes=4096)
    records = (search("a", "s", 1.0), replace(bound, trial=elsewhere))
    assert only(records).measurements[0].gap is None


def test_a_map_that_takes_less_than_a_bound_refutes_it() -> None:
    refuted, held = only(
        (search("a", "s", 1.0), search("b", "s", 1.0), proof("a", 1.1), proof("b", 1.0))
    ).measurements
    assert refuted.refuted
    assert not held.refuted


def test_failed_trials_and_those_without_a_map_have_no_part_in_means() -> None:
    records = (search("a", "s", 1.0), search("b", "s", None), failure("c", "s", "no"))
    summary = summarize("s", only(records).measurements)
    assert (summary.runs, summary.unanswered, summary.vs_xla) == (2, 1, 2.0)


def test_pairs_compare_the_same_programs() -> None:
    """Late over fast: 4 and 1/2; of c only one of them has a time."""
    section = only((*TWO, search("c", "fast", 1.0)))
    found = {(x.first, x.second): x for x in pairs(section)}
    pair = found["fast", "late"]
    assert pair.runs == 2
    assert pair.mean == pytest.approx(math.sqrt(2))
    assert (pair.worst, pair.worst_program) == (0.5, "b")
    back = found["late", "fast"]
    assert back.mean == pytest.approx(1 / math.sqrt(2))
    assert back.worst == 0.25
    best = found["late", BEST]
    assert best.mean == pytest.approx(0.5)
    assert best.worst_program == "a"


def test_one_strategy_has_no_pairs() -> None:
    assert pairs(only(TWO[:2])) == ()


def test_seeds_are_measurements_of_their_own() -> None:
    first = search("a", "s", 1.0)
    trial = replace(first.trial, seed=1)
    second = replace(first, trial=trial, answer=replace(ANSWER, time_s=4.0))
    section = only((first, second, search("a", "t", 2.0)))
    summary = summarize("s", section.of("s"))
    assert summary.runs == 2
    assert summary.vs_xla == pytest.approx(1.0)
    assert [x.time_s for x in section.of(BEST)] == [1.0, 4.0]
    assert [pair.runs for pair in pairs(section) if pair.first == "t"] == [1, 1]


def test_robust_searches_are_compared_with_their_starts_under_both_models() -> None:
    """Roofline: sqrt(1.21 * 1) = 1.1; cycles: sqrt(0.9 * 1.6) = 1.2, one slower."""
    speedups = {"a": (1.21, 0.9), "b": (1.0, 1.6)}
    records = []
    for name, (roofline, cycles) in speedups.items():
        found = search(name, "s", 1.0)
        both = {"roofline": roofline, "cycles": cycles}
        answer = replace(ANSWER, speedups_vs_start=both)
        trial = replace(found.trial, robust=True)
        records.append(replace(found, trial=trial, answer=answer))
    section = only(tuple(records))
    assert section.conditions.robust
    first, second = summarize("s", section.of("s")).vs_start
    assert (first.cost_model, first.worse, first.worst) == ("roofline", 0, 1.0)
    assert first.mean == pytest.approx(1.1)
    assert (second.cost_model, second.worse, second.worst_program) == ("cycles", 1, "a")
    assert second.mean == pytest.approx(1.2)


def test_groups_are_by_family_and_by_size() -> None:
    sizes = {"a": 100, "b": 101, "c": 3001}
    section = only(
        tuple(
            search(name, "s", time, instructions=sizes[name])
            for name, time in (("a", 1.0), ("b", 2.0), ("c", 4.0))
        )
    )
    found = [(x.label, x.programs, x.speedups) for x in by_size(section)]
    assert found == [
        ("up to 100", 1, (2.0,)),
        ("101 to 300", 1, (1.0,)),
        ("more than 3,000", 1, (0.5,)),
    ]
    assert [(x.label, x.speedups) for x in by_family(section)] == [
        ("a", (2.0,)),
        ("b", (1.0,)),
        ("c", (0.5,)),
    ]


def curve(moments: list[float], *records: TrialRecord) -> Any:
    (found,) = quality(only(records), moments)
    return found.points


def test_quality_is_that_of_the_best_map_by_then() -> None:
    """All-slow (4 s) until 1 s, then 2 s, then 1 s: over XLA's 2 s 0.5, 1, 1, 2."""
    history = ((1.0, 2.0, "x"), (5.0, 1.0, "x"))
    found = curve([0.5, 1.0, 2.0, 5.0, 30.0], search("a", "s", 1.0, history=history))
    assert found == ((0.5, 0.5), (1.0, 1.0), (2.0, 1.0), (5.0, 2.0))  # limit: 10 s


def test_quality_is_over_all_slow_where_no_input_has_xla_s_answer() -> None:
    """Geometric mean of 4 / 1 and 4 / 4, which has found nothing yet."""
    found = curve(
        [1.0],
        search("a", "s", 1.0, xla_s=None, history=((0.5, 1.0, "x"),)),
        search("b", "s", 1.0, xla_s=None, history=((9.0, 1.0, "x"),)),
    )
    assert found == ((1.0, pytest.approx(2.0)),)


def test_other_conditions_are_another_section() -> None:
    first = search("a", "s", 1.0)
    longer = replace(first.trial, time_limit_s=60.0)
    wide = replace(first.trial, workers=2)
    found = sections([first, replace(first, trial=longer), replace(first, trial=wide)])
    conditions = [(x.conditions.time_limit_s, x.conditions.workers) for x in found]
    assert conditions == [(60.0, 1), (10.0, 1), (10.0, 2)]


def test_two_programs_of_one_name_are_told_apart() -> None:
    first = search("a", "s", 1.0)
    other = replace(first, trial=replace(first.trial, digest="f" * 16))
    assert only((first, other)).programs == ("a (a00000)", "a (ffffff)")
