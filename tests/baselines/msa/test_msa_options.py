"""Each option makes a difference, and impossible values are refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import pytest
from msa_cases import BIG, NONE, PACKED, machine, of, reads, solve, writes
from named_problems import DONATED, NAMED, OUT, V, W, X, updates

from hybridalloc.baselines.msa import MsaOptions
from hybridalloc.problem import Problem
from hybridalloc.program import Loop


@dataclass(frozen=True, slots=True)
class Case:
    """A problem for which another value of an option gives another map."""

    option: str
    value: object
    problem: Problem
    others: Mapping[str, object] = field(default_factory=dict)
    """Options with either value."""


THIRD = of((W,), NONE, NONE, NONE, (reads(0),), compute=dict.fromkeys(range(3), 8.0))
"""A weight, best fetched beside the last two of three instructions of 8 s."""
LATER = of((BIG,), *[NONE] * 5, (reads(0, 16),), compute=dict.fromkeys(range(5), 8.0))
WAITING = of((X,), (writes(0),), NONE, (reads(0),), compute={1: 300.0})
OUTPUT = of((OUT,), (writes(0),), (reads(0),), NONE, compute={1: 20.0})
LOOP = of(
    (W,), NONE, NONE, (reads(0),), compute={0: 20.0, 1: 8.0}, loops=(Loop(2, 3, 2),)
)
GLANCE = of((W,), NONE, NONE, (reads(0, 3),), compute={0: 20.0, 1: 20.0})
GLANCES = of(
    (BIG,),
    NONE,
    NONE,
    (reads(0, 2),),
    compute={0: 40.0, 1: 9.0},
    loops=(Loop(2, 3, 2),),
)
OVERTAKEN = of(
    (BIG, V),
    *[NONE] * 4,
    *((reads(1),), (reads(0, 16),), (reads(0, 16),)),
    compute=dict.fromkeys(range(4), 8.0),
)
"""big, of 16 bytes, is fetched from 1 to 5, and v from 2 to 4."""
FREED = of(
    (W, V, DONATED),
    *((updates(2),), (reads(0),), (reads(1),), NONE, NONE, NONE),
    compute={2: 100.0, 3: 8.0, 4: 8.0, 5: 8.0},
    on=machine(16, crossing=1),
)
IN_PARTS = {"sliced_prefetch_min_bytes": 1}

CASES = (
    Case("min_overlap_to_async_copy_ratio", 4.0, THIRD),
    Case("preferred_overlap_to_async_copy_ratio", 1.0, THIRD),
    Case("max_overlap_to_mem_size_async_copy_ratio", 10.0, WAITING),
    Case("prefetch_interval_picker_size_override", 4, THIRD),
    Case("async_copy_bandwidth_scaling_factor", 2.0, THIRD),
    Case("max_outstanding_prefetches", 0, THIRD),
    Case("max_outstanding_evictions", 0, OUTPUT),
    Case(
        "while_use_extra_outstanding_prefetch_limit",
        1,
        LOOP,
        {"max_outstanding_prefetches": 0},
    ),
    Case("enforce_prefetch_fifo_order", True, OVERTAKEN),
    Case("max_retries", 0, THIRD),
    Case("max_repacks", 0, PACKED),
    Case("inefficient_use_to_copy_ratio", 0.25, GLANCE),
    Case("while_execution_count", 1, GLANCES),
    Case("max_cross_program_prefetches", 0, NAMED["a chain"]),
    Case("enable_cross_program_prefetch_freeing", False, FREED),
    Case("sliced_prefetch_max_slices", 2, LATER, IN_PARTS),
    Case("sliced_prefetch_min_bytes", 1, LATER),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.option)
def test_an_option_makes_a_difference(case: Case) -> None:
    usual = solve(case.problem, **case.others)
    assert solve(case.problem, **{**case.others, case.option: case.value}) != usual


def test_each_option_has_its_case() -> None:
    assert [case.option for case in CASES] == [x.name for x in fields(MsaOptions)]


def test_a_loop_never_overlaps_more_copies_than_the_target_allows() -> None:
    """The weights of a loop are due together, and only one copy may be under way."""
    looping = of(
        (W, V),
        *(NONE, NONE, (reads(0), reads(1))),
        compute={0: 50.0, 1: 50.0},
        loops=(Loop(2, 3, trip_count=3),),
        on=machine(prefetches=1),
    )
    found = solve(looping, while_use_extra_outstanding_prefetch_limit=1)
    assert len(found) == 1


@pytest.mark.parametrize("field", [x.name for x in fields(MsaOptions)])
def test_values_below_the_least_are_refused(field: str) -> None:
    """-1 stands for the typical size; all else is at least 0, and some more."""
    with pytest.raises(ValueError, match=f"{field} -2 is not "):
        MsaOptions(**{field: -2})  # type: ignore[arg-type]  # any of its fields


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("while_execution_count", 0),
        ("async_copy_bandwidth_scaling_factor", 0),
        ("max_retries", math.nan),
    ],
)
def test_other_impossible_values_are_refused(option: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{option} {value} is not "):
        MsaOptions(**{option: value})  # type: ignore[arg-type]  # any of its fields


def test_loops_deeper_than_eight_count_as_eight_deep() -> None:
    options = MsaOptions(while_execution_count=2)
    assert [options.runs(depth) for depth in (0, 3, 8, 9)] == [1, 8, 256, 256]
