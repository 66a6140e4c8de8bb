"""Bounds worked out by hand, what they cost, and how a search for one may end."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from named_problems import (
    DONATED,
    NAMED,
    OUT,
    PINS_THAT_DO_NOT_FIT,
    V,
    W,
    X,
    problem,
    reads,
    updates,
    writes,
)
from named_problems import target as small_target

from hybridalloc.bounds import lower_bound
from hybridalloc.bounds.envelopes import Envelopes
from hybridalloc.errors import UsageError
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Loop, Memory
from hybridalloc.target import Target

NO_CROSS = small_target(cross_program_prefetches=0)


def small(capacity: int) -> Target:
    """Less fast memory, and no cross-program prefetch."""
    return small_target(capacity, cross_program_prefetches=0)


A, B = Buffer("a", 8), Buffer("b", 8)

BY_HAND: dict[str, tuple[Problem, float]] = {
    # Fetched in 8 s, 3 of which hide behind the computation: 8 + 2 + 2. Reading it
    # twice from slow memory takes 3 + 16.
    "a copy that hides in part": (
        problem((W,), (), (reads(0),), (reads(0),), compute={0: 3.0}, machine=NO_CROSS),
        8 + 2 + 2,
    ),
    # Room for one of two: each is written and read in 2 + 2 s in fast memory, and in
    # 8 + 8 s in slow memory.
    "room for one of two": (
        problem(
            (A, B), (writes(0), writes(1)), (reads(0), reads(1)), machine=small(12)
        ),
        2 + 8 + 2 + 8,
    ),
    "room for both": (
        problem(
            (A, B), (writes(0), writes(1)), (reads(0), reads(1)), machine=small(16)
        ),
        4 * 2,
    ),
    # Written in 2 s, updated twice in 1 + 1 s, read in 2 s.
    "a chain in place": (
        problem((X,), (writes(0),), (updates(0),), (updates(0),), (reads(0),)),
        2 + 2 + 2 + 2,
    ),
    # Written in 2 s and evicted in 8 s, which nothing hides; in slow memory 8 s.
    "an output": (problem((OUT,), (writes(0),)), 8),
    # Written in 2 s, and evicted behind a computation of 9 s.
    "an output behind a computation": (
        problem((OUT,), (writes(0),), (), compute={1: 9.0}),
        2 + 9,
    ),
    # Fetched once, in 8 s, then updated in 1 + 1 s five times, evicted in 8 s. To leave
    # it in slow memory takes 5 * 8 s.
    "a loop": (
        problem((DONATED,), (updates(0),), loops=(Loop(0, 1, trip_count=5),)),
        8 + 5 * 2 + 8,
    ),
    # Both are read twice. The one is there when the program starts, 2 + 2 s, and stays
    # for the next run; the other is fetched in 8 s and read in 2 + 2 s.
    "a cross-program prefetch of one": (
        problem((W, V), (reads(0), reads(1)), (reads(0), reads(1))),
        4 * 2 + 8,
    ),
    "cross-program prefetches of two": (
        problem(
            (W, V),
            (reads(0), reads(1)),
            (reads(0), reads(1)),
            machine=small_target(cross_program_prefetches=2),
        ),
        4 * 2,
    ),
    "no time at all": (problem((W,), ()), 0),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_bound_is_what_it_is_by_hand(name: str) -> None:
    given, seconds = BY_HAND[name]
    bound = lower_bound(given)
    assert bound.seconds <= seconds
    assert bound.seconds == pytest.approx(seconds, rel=1e-6)


def test_pins_that_do_not_fit_leave_no_valid_map() -> None:
    bound = lower_bound(PINS_THAT_DO_NOT_FIT)
    assert bound.seconds == math.inf
    assert bound.prices is None
    assert bound.certificate.bound() is None


@pytest.mark.parametrize("name", NAMED)
def test_no_time_leaves_a_lower_bound(name: str) -> None:
    none = lower_bound(NAMED[name], time_limit=0)
    full = lower_bound(NAMED[name])
    assert 0 <= none.seconds <= full.seconds * (1 + 1e-9)
    proven = none.certificate.bound()
    assert proven is not None
    assert none.seconds <= max(0.0, float(proven) * none.unit_s)


def test_no_time_to_set_it_up_leaves_the_computation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(*_: object) -> None:
        raise TimeoutError

    monkeypatch.setattr("hybridalloc.bounds.bounding.relax", late)
    # 20 s three times, and 3 s once.
    loop = Loop(0, 1, trip_count=3)
    given = problem((W,), (reads(0),), (), compute={0: 20.0, 1: 3.0}, loops=(loop,))
    bound = lower_bound(given)
    assert bound.seconds == pytest.approx(63)
    assert bound.seconds <= 63
    assert bound.prices is None
    assert bound.served == {}


def test_the_solution_says_what_is_served_from_fast_memory() -> None:
    # All of a and b where both fit; one of the two in the end where one does.
    both = lower_bound(BY_HAND["room for both"][0]).served
    assert both == pytest.approx({(t, b): 1 for t in range(2) for b in range(2)})
    one = lower_bound(BY_HAND["room for one of two"][0]).served
    assert len({buffer for _, buffer in one}) == 1
    assert list(one.values()) == pytest.approx([1, 1])


@pytest.mark.parametrize("limit", [-1.0, math.nan])
def test_a_time_limit_is_a_number_of_seconds(limit: float) -> None:
    with pytest.raises(UsageError, match=f"time limit {limit} is not >= 0"):
        lower_bound(NAMED["a chain"], time_limit=limit)


def test_times_must_be_finite() -> None:
    fast, slow = NO_CROSS.spaces
    still = replace(slow, read_bandwidth=1e-310)  # 8 bytes take forever
    machine = replace(NO_CROSS, spaces=(fast, still))
    endless = problem((W,), (reads(0),), machine=machine)
    with pytest.raises(UsageError, match="its time is not finite"):
        lower_bound(endless)


def test_a_bound_at_the_cutoff_is_good_enough() -> None:
    given = NAMED["more than fits"]
    full, early = lower_bound(given), lower_bound(given, cutoff=0.0)
    assert early.certificate.leaves == 1 < full.certificate.leaves
    assert 0 < early.seconds < full.seconds


PINNED = Buffer("pinned", 16, is_input=True, memory=Memory.FAST)


def memory_short(capacity: int, alignment: int) -> Problem:
    """After there was time to copy 16 bytes, scratch takes all but 8 bytes of 24."""
    fast, slow = NO_CROSS.spaces
    fast = replace(fast, capacity=capacity, alignment=alignment)
    return problem(
        (PINNED,),
        (),
        (),
        (Access(0, read_bytes=16),),
        compute={0: 24.0},
        scratch={1: 16},
        machine=replace(NO_CROSS, spaces=(fast, slow)),
    )


@pytest.mark.parametrize("alignment", [1, 4])
def test_memory_has_the_price_that_more_of_it_saves(alignment: int) -> None:
    # 8 bytes are copied while it computes for 24 s, the others in a stall of 8 s; 4 s
    # to read them. A byte more during instruction 1 saves a second.
    bound = lower_bound(memory_short(24, alignment))
    more = lower_bound(memory_short(24 + alignment, alignment))
    assert bound.seconds == pytest.approx(24 + 8 + 4)
    assert bound.prices is not None
    assert bound.prices.capacity == pytest.approx([0, 1, 0])
    assert bound.prices.fast_memory == pytest.approx(1)
    assert (bound.seconds - more.seconds) / alignment == pytest.approx(1, abs=1e-6)


def copies_short(bandwidth: float) -> Problem:
    """16 bytes are fetched, 3 s of it during a computation, updated, and evicted."""
    fast, slow = NO_CROSS.spaces
    slow = replace(slow, read_bandwidth=bandwidth, write_bandwidth=bandwidth)
    return problem(
        (replace(PINNED, is_output=True),),
        (),
        (Access(0, read_bytes=8, write_bytes=8),),
        (),
        compute={0: 3.0, 2: 30.0},
        machine=replace(NO_CROSS, spaces=(fast, slow)),
    )


def test_bandwidth_has_the_price_that_more_of_it_saves() -> None:
    # 16 / b s to fetch, 4 s to update, 30 s that hide the eviction: the derivative of
    # 16 / b is -16 at b = 1, and -4 at b = 2.
    for bandwidth, price in ((1.0, 16.0), (2.0, 4.0)):
        bound = lower_bound(copies_short(bandwidth))
        assert bound.seconds == pytest.approx(16 / bandwidth + 34)
        assert bound.prices is not None
        assert bound.prices.copy_bandwidth == pytest.approx(price)
        more = lower_bound(copies_short(bandwidth + 1e-4))
        saved = (bound.seconds - more.seconds) / 1e-4
        assert saved == pytest.approx(price, rel=1e-3)


def test_what_is_not_short_has_no_price() -> None:
    bound = lower_bound(NAMED["a chain"])
    assert bound.prices is not None
    assert bound.prices.capacity == pytest.approx(np.zeros(3))
    assert bound.prices.copy_bandwidth == pytest.approx(0)


def test_ctrl_c_ends_the_search_with_what_is_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = NAMED["more than fits"]
    full = lower_bound(given)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Envelopes, "separate", interrupted)
    bound = lower_bound(given)
    assert 0 < bound.seconds < full.seconds
    assert bound.certificate.leaves == 1


def run(code: str) -> str:
    """The output of a Python program that must not fail."""
    command = [sys.executable, "-W", "error", "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr


@pytest.mark.parametrize("first", ["highspy", "ortools"])
def test_the_two_solvers_load_in_either_order(first: str) -> None:
    imports = ["import highspy", "from ortools.sat.python import cp_model"]
    imports = imports if first == "highspy" else imports[::-1]
    solves = [
        "assert highspy.Highs().version()",
        "assert cp_model.CpSolver().solve(cp_model.CpModel()) == cp_model.OPTIMAL",
    ]
    run("\n".join(imports + solves))


def test_nothing_is_printed_and_nothing_loaded_before_it_is_needed() -> None:
    code = """
import sys
import hybridalloc
assert not {"highspy", "scipy", "ortools"} & sys.modules.keys()
from named_problems import NAMED
from hybridalloc.bounds import lower_bound
for name in ("more than fits", "a loop over weights", "pinned buffers"):
    lower_bound(NAMED[name])
"""
    assert run(f"import sys; sys.path[:] = {sys.path}\n{code}") == ""
