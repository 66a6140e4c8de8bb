"""Envelope cuts against what instructions take, in fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_programs import exact
from named_problems import V, W, problem, reads
from strategies import problems

from hybridalloc.arrays import Floats
from hybridalloc.bounds.envelopes import Envelopes
from hybridalloc.bounds.linear_program import Row
from hybridalloc.bounds.relaxation import Relaxation, relax
from hybridalloc.cost_model import elapsed
from hybridalloc.problem import Problem

UNITS = st.sampled_from([1.0, 0.3, 7.0])


def accesses(relaxation: Relaxation, t: int) -> dict[int, int]:
    """The columns of an instruction's accesses, and their buffers."""
    served = relaxation.served.items()
    return {column: buffer for (s, buffer), column in served if s == t}


def assert_cut(relaxation: Relaxation, cut: Row, values: Floats) -> None:
    """It is violated by a solution, but by no placement with what that takes."""
    assert cut.values @ values[cut.columns] < cut.low
    column, *columns = cut.columns.tolist()
    t = relaxation.elapsed.tolist().index(column)
    buffers = accesses(relaxation, t)
    for choice in product((0, 1), repeat=len(columns)):
        fast = {buffers[c] for c, x in zip(columns, choice, strict=True) if x}
        seconds = elapsed(relaxation.problem, t, fast)
        takes = Fraction(float(relaxation.runs[t])) * Fraction(seconds)
        assert cut.values[0] == 1
        assert takes + exact(cut.values[1:], choice) >= Fraction(cut.low)


@given(st.data(), problems(max_buffers=4, max_instructions=5))
@settings(max_examples=25)
def test_no_cut_is_above_what_an_instruction_takes(
    data: st.DataObject, drawn: Problem
) -> None:
    relaxation = relax(drawn, data.draw(UNITS), math.inf)
    shares = st.sampled_from([0.0, 0.1, 0.5, 2 / 3, 1.0])
    values = relaxation.program.low.copy()
    for column in relaxation.served.values():
        values[column] = data.draw(shares)
    for cut in Envelopes(relaxation).separate(values, math.inf):
        assert_cut(relaxation, cut, values)


def test_a_face_between_the_faces_is_found() -> None:
    # 16 s with both in slow memory, 12 s of computation otherwise. With a third of the
    # first one in fast memory the faces say 16 - 6 / 3 = 14 s, but two thirds of the
    # time nothing is, and that takes 2 / 3 * 16 + 1 / 3 * 12 = 14.67 s.
    drawn = problem((W, V), (reads(0), reads(1)), compute={0: 12.0})
    relaxation = relax(drawn, 1.0, math.inf)
    values = np.zeros(relaxation.program.cost.size)
    values[relaxation.served[0, 0]] = 1 / 3
    values[relaxation.elapsed[0]] = 14.0
    (cut,) = Envelopes(relaxation).separate(values, math.inf)
    assert_cut(relaxation, cut, values)
    assert cut.low - cut.values[1:] @ values[cut.columns[1:]] == pytest.approx(44 / 3)


def test_whole_choices_have_no_cut() -> None:
    drawn = problem((W, V), (reads(0), reads(1)), compute={0: 12.0})
    relaxation = relax(drawn, 1.0, math.inf)
    values = np.zeros(relaxation.program.cost.size)
    values[relaxation.served[0, 0]] = 1.0
    assert list(Envelopes(relaxation).separate(values, math.inf)) == []
