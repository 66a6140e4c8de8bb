"""Records of answers and their means."""

from __future__ import annotations

import math
from dataclasses import replace

from hybridalloc.report.records import Record, finite, means
from hybridalloc.report.tables import short_names

ROW = Record(
    input="a",
    strategy="greedy",
    target="tpu-v4i",
    cost_model="roofline",
    capacity_bytes=4096,
    status="feasible",
    valid=True,
    time_s=1.0,
    bound_s=None,
    gap=None,
    slow_s=2.0,
    xla_s=None,
    speedup_vs_slow=2.0,
    speedup_vs_xla=None,
    peak_bytes=0,
    fragmentation=0.0,
    moved_bytes=0,
    stall_s=0.0,
    runtime_s=0.0,
    seed=0,
)


def test_means_are_geometric_for_each_strategy_and_capacity() -> None:
    rows = [
        ROW,
        replace(ROW, strategy="other", speedup_vs_slow=3.0),
        replace(ROW, input="b", speedup_vs_slow=8.0, speedup_vs_xla=0.5),
        replace(ROW, capacity_bytes=8192, speedup_vs_slow=5.0),
    ]
    greedy, other, larger = means(rows)
    assert (greedy.strategy, greedy.capacity_bytes) == ("greedy", 4096)
    assert greedy.speedup_vs_slow is not None
    assert math.isclose(greedy.speedup_vs_slow, 4.0)  # sqrt(2 * 8)
    assert greedy.speedup_vs_xla == 0.5  # of b alone
    assert (greedy.inputs, greedy.inputs_vs_xla) == (2, 1)
    assert (other.strategy, larger.capacity_bytes) == ("other", 8192)
    assert other.speedup_vs_xla is None


def test_the_mean_gap_is_that_of_time_over_bound() -> None:
    rows = [replace(ROW, gap=0.25), replace(ROW, gap=1.0), ROW]
    (mean,) = means([*rows, replace(ROW, gap=math.inf)])
    assert mean.gap is not None
    assert math.isclose(mean.gap, 2.5**0.5 - 1)  # sqrt(1.25 * 2)
    assert (mean.inputs, mean.inputs_with_gap) == (4, 2)


def test_the_means_of_robust_searches_are_by_cost_model() -> None:
    rows = [
        replace(ROW, speedups_vs_start={"roofline": 2.0, "cycles": 1.0}),
        replace(ROW, speedups_vs_start={"roofline": 8.0, "cycles": 4.0}),
        replace(ROW, status="unknown"),
    ]
    (mean,) = means(rows)
    assert mean.speedups_vs_start is not None
    assert math.isclose(mean.speedups_vs_start["roofline"], 4.0)  # sqrt(2 * 8)
    assert math.isclose(mean.speedups_vs_start["cycles"], 2.0)  # sqrt(1 * 4)
    assert means([ROW])[0].speedups_vs_start is None


def test_a_row_without_an_answer_has_no_part_in_the_mean() -> None:
    unknown = replace(ROW, status="unknown", time_s=None, speedup_vs_slow=None)
    (mean,) = means([unknown, ROW])
    assert (mean.speedup_vs_slow, mean.inputs) == (2.0, 1)


def test_json_holds_no_number_that_is_not_finite() -> None:
    assert finite(math.inf) is None
    assert finite(math.nan) is None
    assert finite(1.5) == 1.5
    assert replace(ROW, gap=math.inf).as_json()["gap"] is None


def test_inputs_that_would_be_called_the_same_keep_their_paths() -> None:
    assert short_names(["a/toy.json", "b/toy.json", "c/net"]) == {
        "a/toy.json": "a/toy.json",
        "b/toy.json": "b/toy.json",
        "c/net": "net",
    }
