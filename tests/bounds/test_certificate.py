"""Dual values and what they prove, by hand and in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_programs import exact, program, row, whole

from hybridalloc.bounds.certificate import Branch, Certificate, ExactProgram, Leaf
from hybridalloc.bounds.linear_program import LinearProgram

# x <= 2 costs 1, y <= 5 costs 2, and together they are at least 3: x = 2, y = 1, 4.
TWO = program((1, 2), (2, 5), ((1, 1), 3, math.inf))
NUMBERS = st.sampled_from([0.0, 0.1, -0.1, 1 / 3, 1.0, -2.5, 1e-9, 7e5, -1e7 / 3])
DUALS = st.floats(-1e6, 1e6).map(lambda x: round(x * 2**20) / 2**20)


def leaf(*duals: float, infeasible: bool = False) -> Leaf:
    return Leaf.of(np.array(duals), infeasible=infeasible)


@pytest.mark.parametrize(
    ("dual", "bound"),
    [
        (2.0, 4),  # 2 * 3, and x costs 1 - 2 at most twice
        (1.0, 3),  # 1 * 3, and neither x nor y costs less than nothing
        (3.0, 0),  # 3 * 3, and x costs 1 - 3 twice, y costs 2 - 3 five times
        (0.0, 0),
        (-1.0, 0),  # there is nothing that x + y is at most
    ],
)
def test_any_dual_values_prove_a_bound(dual: float, bound: int) -> None:
    assert ExactProgram(TWO).bound(leaf(dual), {}) == bound


def test_fixed_columns_count_with_their_values() -> None:
    # 2 * 3, and x costs 1 - 2 not at all: y is 3.
    assert ExactProgram(TWO).bound(leaf(2.0), {0: 0.0}) == 6


def test_a_ray_proves_that_there_is_no_solution_and_another_one_nothing() -> None:
    # x + y is at most 2 + 5.
    impossible = program((1, 2), (2, 5), ((1, 1), 8, math.inf))
    assert ExactProgram(impossible).bound(leaf(1.0, infeasible=True), {}) is None
    bound = ExactProgram(TWO).bound(leaf(1.0, infeasible=True), {})
    assert bound is not None
    assert bound <= 0


def in_fractions(given_program: LinearProgram, duals: list[float]) -> Fraction:
    """The bound by its definition, in fractions from first to last."""
    total = Fraction(0)
    y = [Fraction(x) for x in duals]
    for i, value in enumerate(y):
        side = given_program.row_low if value > 0 else given_program.row_high
        if not math.isfinite(side[i]):
            y[i] = Fraction(0)
        elif value:
            total += value * Fraction(side[i])
    matrix = given_program.matrix.toarray()
    for j, cost in enumerate(given_program.cost):
        reduced = Fraction(cost) - sum(
            (y[i] * Fraction(matrix[i, j]) for i in range(len(y))), Fraction(0)
        )
        side = given_program.low if reduced > 0 else given_program.high
        total += reduced * Fraction(side[j])
    return total


@st.composite
def programs(draw: st.DrawFn) -> LinearProgram:
    columns = draw(st.integers(1, 4))
    numbers = st.lists(NUMBERS, min_size=columns, max_size=columns)
    lows = st.sampled_from([-math.inf, -1.5, 0.0, 0.1])
    highs = st.sampled_from([math.inf, 0.3, 2.0])
    rows = draw(st.lists(st.tuples(numbers, lows, highs), min_size=1, max_size=4))
    return program(draw(numbers), [1.0] * columns, *rows)


@given(st.data(), programs())
@settings(max_examples=60)
def test_awkward_numbers_are_exact(
    data: st.DataObject, given_program: LinearProgram
) -> None:
    count = given_program.row_low.size
    duals = data.draw(st.lists(DUALS, min_size=count, max_size=count))
    bound = ExactProgram(given_program).bound(leaf(*duals), {})
    assert bound == in_fractions(given_program, duals)


@given(st.data(), programs())
@settings(max_examples=60)
def test_no_solution_costs_less_than_a_bound(
    data: st.DataObject, given_program: LinearProgram
) -> None:
    count = given_program.row_low.size
    anything = st.floats(-1e9, 1e9)
    duals = data.draw(st.lists(anything, min_size=count, max_size=count))
    bound = ExactProgram(given_program).bound(leaf(*duals), {})
    ray = ExactProgram(given_program).bound(leaf(*duals, infeasible=True), {})
    assert bound is not None
    for _, cost in whole(given_program):
        assert bound <= cost
        assert ray is not None


def test_added_rows_count_as_those_of_the_program() -> None:
    cut = row((0.1, 0.7), low=0.3)
    later = ExactProgram(TWO)
    later.add([cut])
    expected = program((1, 2), (2, 5), ((1, 1), 3, math.inf), ((0.1, 0.7), 0.3, 1e9))
    for bound in (later, ExactProgram(TWO, [cut])):
        found = bound.bound(leaf(0.5, 1.25), {})
        assert found == in_fractions(expected, [0.5, 1.25])


# 3 x + y >= 2 with x = 0: y is at most 1, so there is no solution; with x = 1: 1.
CHOICE = program((1, 2), (1, 1), ((3, 1), 2, math.inf), binary=True)
ROOT, ZERO, ONE = leaf(1 / 4), leaf(1.0, infeasible=True), leaf(0.0)


def test_the_bound_of_a_search_is_the_least_of_its_leaves() -> None:
    undivided = Certificate(CHOICE, (), (ROOT,))
    assert undivided.leaves == 1
    assert undivided.bound() == Fraction(1, 2)  # 2 / 4, and x costs 1 - 3 / 4
    divided = Certificate(CHOICE, (), (Branch(0, 1, 2), ZERO, ONE))
    assert divided.leaves == 2
    assert divided.bound() == 1


def test_there_is_no_solution_if_no_leaf_has_one() -> None:
    # With x <= 0 as a cut, x = 1 is none either.
    nothing = row((1, 0), high=0.0)
    one = leaf(0.0, -1.0, infeasible=True)
    parts = (Branch(0, 1, 2), leaf(1.0, 0.0, infeasible=True), one)
    assert Certificate(CHOICE, (nothing,), parts).bound() is None
    assert Certificate(CHOICE, (), (Branch(0, 1, 2), ZERO, ONE)).bound() is not None


def test_every_solution_is_in_one_leaf() -> None:
    # x + y + z >= 2 at 1, 2 and 4: 3. By halves: x, and y in one of them.
    three = program((1, 2, 4), (1, 1, 1), ((1, 1, 1), 2, math.inf), binary=True)
    parts = (Branch(0, 1, 2), leaf(2.0), Branch(1, 3, 4), leaf(4.0), leaf(0.0))
    # x = 0: 2 * 2 + (4 - 2) * 0 = 4, and y costs nothing: 4. x = 1, y = 0: 4 * 2, x
    # costs 1 - 4: 5. Both 1: 3.
    assert Certificate(three, (), parts).bound() == 3
    assert min(cost for _, cost in whole(three)) == 3
    assert exact((1, 2, 4), (1, 1, 0)) == 3
