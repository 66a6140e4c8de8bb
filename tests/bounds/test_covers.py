"""Cover cuts against every choice of stays that fits."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from named_problems import V, W, X, problem, reads, target, writes
from strategies import problems

from hybridalloc.arrays import Floats
from hybridalloc.bounds.covers import Covers
from hybridalloc.bounds.linear_program import Row
from hybridalloc.bounds.relaxation import Relaxation, relax
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer


def fits(relaxation: Relaxation, chosen: set[int]) -> bool:
    """Whether the stays of these columns leave what is free unexceeded."""
    held = np.zeros(len(relaxation.free))
    for stay in relaxation.stays:
        if stay.column in chosen:
            held[stay.low : stay.high] += stay.units
    return bool((held <= relaxation.free).all())


def assert_cut(relaxation: Relaxation, cut: Row, values: Floats) -> None:
    """It is violated by a solution, but not by any choice that fits."""
    assert cut.values @ values[cut.columns] > cut.high
    for choice in product((0, 1), repeat=cut.columns.size):
        chosen = {c for c, x in zip(cut.columns.tolist(), choice, strict=True) if x}
        if fits(relaxation, chosen):
            assert cut.values @ np.array(choice) <= cut.high


def test_two_buffers_do_not_fit_where_three_quarters_of_each_do() -> None:
    # 8 bytes each, two units of 4, in 3 units: 3 / 4 of two of them fit, but only one
    # as a whole, whichever of the three that is.
    small = target(capacity=12)
    drawn = problem((W, V, X), (reads(0), reads(1), writes(2)), machine=small)
    relaxation = relax(drawn, 1.0, math.inf)
    columns = [relaxation.served[0, buffer] for buffer in range(3)]
    values = np.zeros(relaxation.program.cost.size)
    values[columns] = 0.75, 0.75, 0.0
    (cut,) = Covers(relaxation).separate(values)
    assert cut.columns.tolist() == columns
    assert cut.values.tolist() == [1, 1, 1]
    assert cut.high == 1
    assert_cut(relaxation, cut, values)


def test_only_what_is_as_large_as_all_in_a_cover_belongs_to_its_cut() -> None:
    # a has 3 units, b and c have 2 each, and 4 are free: b and c fit without a.
    sizes = {"a": 12, "b": 8, "c": 8}
    buffers = tuple(Buffer(name, size, is_input=True) for name, size in sizes.items())
    drawn = problem(buffers, (reads(0), reads(1), reads(2)), machine=target(16))
    relaxation = relax(drawn, 1.0, math.inf)
    columns = [relaxation.served[0, buffer] for buffer in range(3)]
    values = np.zeros(relaxation.program.cost.size)
    values[columns] = 0.75, 0.75, 0.0
    (cut,) = Covers(relaxation).separate(values)
    assert cut.columns.tolist() == columns[:2]
    assert_cut(relaxation, cut, values)


def test_what_fits_has_no_cut() -> None:
    drawn = problem((W, V), (reads(0), reads(1)))
    relaxation = relax(drawn, 1.0, math.inf)
    values = np.ones(relaxation.program.cost.size)
    assert list(Covers(relaxation).separate(values)) == []


@given(st.data(), problems(max_buffers=5, max_instructions=8))
@settings(max_examples=25)
def test_no_cut_forbids_stays_that_fit(data: st.DataObject, drawn: Problem) -> None:
    relaxation = relax(drawn, 1.0, math.inf)
    shares = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, 1.0])
    values = np.zeros(relaxation.program.cost.size)
    for column in relaxation.program.binary:
        values[column] = data.draw(shares)
    for cut in Covers(relaxation).separate(values):
        if cut.columns.size <= 10:
            assert_cut(relaxation, cut, values)
