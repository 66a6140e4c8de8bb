"""Branch and bound against every solution of small programs."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from linear_programs import program, row, whole

from hybridalloc.arrays import Floats
from hybridalloc.bounds.branching import BranchAndBound
from hybridalloc.bounds.linear_program import LinearProgram, Row


def no_cuts(_: Floats) -> tuple[Row, ...]:
    return ()


def searched(given: LinearProgram, cutoff: float = math.inf) -> BranchAndBound:
    search = BranchAndBound(given, no_cuts, math.inf)
    search.run(cutoff)
    return search


def random_program(seed: int) -> LinearProgram:
    """Six choices, three rows; numbers that no float is exactly."""
    random = np.random.default_rng(seed)
    rows = [(random.integers(-3, 8, 6) / 3, -0.5, 2.0 + i / 3) for i in range(3)]
    return program(random.integers(-9, 10, 6) / 7, [1.0] * 6, *rows, binary=True)


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_is_the_cost_of_the_best_solution(seed: int) -> None:
    given = random_program(seed)
    best = min(cost for _, cost in whole(given))
    search = searched(given)
    assert search.bound is not None
    assert search.bound <= best
    assert float(search.bound) == pytest.approx(float(best), abs=1e-5)
    assert search.certificate().bound() == search.bound


def test_some_of_them_take_a_search() -> None:
    leaves = [searched(random_program(seed)).certificate().leaves for seed in range(12)]
    assert max(leaves) > 2


# 2 x + 2 y + 2 z = 3 has a solution only with a half.
HALF = program((1, 1, 1), (1, 1, 1), ((2, 2, 2), 3, 3), binary=True)


def test_there_is_no_bound_where_no_solution_is_left() -> None:
    search = searched(HALF)
    assert search.bound is None
    assert search.certificate().bound() is None
    assert search.certificate().leaves > 1


def test_a_bound_at_the_cutoff_is_good_enough() -> None:
    search = searched(HALF, cutoff=1.5)
    assert search.bound == Fraction(3, 2)
    assert search.certificate().leaves == 1


@pytest.mark.parametrize("deadline", [0.0, -math.inf])
def test_a_search_without_time_proves_something(deadline: float) -> None:
    given = random_program(1)
    search = BranchAndBound(given, no_cuts, deadline)
    before = search.bound
    search.run(math.inf)
    assert before is not None
    assert search.bound is not None
    assert before <= search.bound <= min(cost for _, cost in whole(given))
    assert search.certificate().bound() == search.bound


def test_cuts_count_and_are_proven_with_the_rest() -> None:
    # x + y + z <= 1 follows from 2 x + 2 y + 2 z <= 3, and makes branches needless.
    given = program((-1, -1, -1), (1, 1, 1), ((2, 2, 2), 0, 3), binary=True)
    cut = row((1, 1, 1), high=1.0)

    def separate(values: Floats) -> Iterator[Row]:
        if values.sum() > 1.001:
            yield cut

    search = BranchAndBound(given, separate, math.inf)
    search.run(math.inf)
    certificate = search.certificate()
    assert certificate.cuts == (cut,)
    assert certificate.leaves == 1
    assert search.bound == certificate.bound() == -1
    assert searched(given).certificate().leaves > 1


def test_an_interrupted_search_keeps_what_it_has_proven() -> None:
    def interrupted(_: Floats) -> tuple[Row, ...]:
        raise KeyboardInterrupt

    search = BranchAndBound(HALF, interrupted, time.monotonic() + 60)
    with pytest.raises(KeyboardInterrupt):
        search.run(math.inf)
    assert search.bound == search.certificate().bound() == Fraction(3, 2)
