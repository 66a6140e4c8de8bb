from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from static_problems import INSTANTS, exists, least_capacity, small_problems

from hybridalloc.cpsat_models.packing.model import canonical_offsets
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Instruction, Loop, Program
from hybridalloc.static.checker import check_offsets
from hybridalloc.static.load import lower_bound, peak_of
from hybridalloc.static.problem import Gap, StaticBuffer, StaticProblem
from hybridalloc.static.proofs import refute
from hybridalloc.static.temporaries import temporaries
from hybridalloc.static.units import units_for
from hybridalloc.target import TARGETS


@given(problem=small_problems(), data=st.data())
def test_the_checker_finds_whatever_takes_the_same_byte_at_one_time(
    problem: StaticProblem, data: st.DataObject
) -> None:
    count = len(problem)
    offsets = data.draw(st.lists(st.integers(0, 6), min_size=count, max_size=count))
    taken = [
        {
            (t, byte)
            for r in buffer.rectangles
            for t in range(r.start, r.end)
            for byte in range(offset + r.low, offset + r.high)
        }
        for buffer, offset in zip(problem.buffers, offsets, strict=True)
    ]
    meets = any(one & other for one, other in combinations(taken, 2))
    rules = {violation.rule for violation in check_offsets(problem, offsets)}
    assert ("overlap" in rules) == meets


@pytest.mark.parametrize(
    ("offset", "rule"), [(4, "fixed"), (-8, "range"), (16, "range"), (3, "alignment")]
)
def test_the_checker_names_what_a_single_buffer_breaks(offset: int, rule: str) -> None:
    fixed = 0 if rule == "fixed" else None
    buffer = StaticBuffer("a", 4, 0, 3, alignment=4, offset=fixed)
    problem = StaticProblem("p", (buffer,), 16)
    assert [x.rule for x in check_offsets(problem, [offset])] == [rule]


def test_the_checker_wants_an_offset_for_each_buffer() -> None:
    problem = StaticProblem("p", (StaticBuffer("a", 4, 0, 3),))
    assert [x.rule for x in check_offsets(problem, [])] == ["count"]


def test_the_checker_keeps_what_is_reserved_free() -> None:
    problem = StaticProblem("p", (StaticBuffer("a", 4, 0, 3),), 16, ((2, 4),))
    assert [x.rule for x in check_offsets(problem, [0])] == ["reserved"]
    assert check_offsets(problem, [4]) == ()


def test_what_is_reserved_may_lie_between_aligned_buffers() -> None:
    """Bytes 0 to 2, the reserved 3, and byte 4; or byte 0, and 4 to 6."""
    a, b = StaticBuffer("a", 3, 0, 1, alignment=2), StaticBuffer("b", 1, 0, 1, 2)
    problem = StaticProblem("between", (a, b), 5, reserved=((3, 4),))
    assert lower_bound(problem) == 5
    assert lower_bound(replace(problem, reserved=((2, 4),))) == 7


@given(problem=small_problems(most=4))
@settings(deadline=None)
def test_no_placement_goes_below_the_lower_bound(problem: StaticProblem) -> None:
    least = least_capacity(problem, 12)
    assert least is None or lower_bound(problem) <= least


@given(problem=small_problems())
def test_what_is_refuted_has_no_placement(problem: StaticProblem) -> None:
    if refute(problem) is not None:
        assert not exists(problem)


def test_the_peak_is_the_first_instant_of_the_most_bytes() -> None:
    a = StaticBuffer("a", 4, 0, 9, gaps=(Gap(2, 4),))
    b = StaticBuffer("b", 2, 2, 6)
    assert peak_of((a, b)).instant == 4
    assert peak_of((a, b)).buffers == ("a", "b")


def test_all_but_the_topmost_buffer_take_up_to_the_next_offset() -> None:
    buffers = tuple(StaticBuffer(f"b{i}", 5, 0, 3, alignment=4) for i in range(3))
    assert lower_bound(StaticProblem("p", buffers)) == 21


@given(problem=small_problems())
def test_the_peak_counts_all_but_one_up_to_the_next_multiple(
    problem: StaticProblem,
) -> None:
    peaks = [0]
    for instant in range(INSTANTS):
        sizes = [
            r.high - r.low
            for x in problem.buffers
            for r in x.rectangles
            if r.start <= instant < r.end
        ]
        padding = [-size % 3 for size in sizes]
        peaks.append(sum(sizes) + sum(padding) - max(padding, default=0))
    assert peak_of(problem.buffers, 3).bytes == max(peaks)


def test_canonical_offsets_rest_on_sums_of_sizes_above_fixed_ones() -> None:
    a = StaticBuffer("a", 4, 0, 3, offset=16)
    b = StaticBuffer("b", 6, 0, 3)
    problem = StaticProblem("p", (a, b), 200)
    units = units_for(problem)
    found = canonical_offsets(problem, units)
    assert units.unit == 2
    assert found == [0, 2, 3, 5, 8, 10, 11, 13]


def test_temporaries_live_from_their_first_access_to_the_end_of_the_loop() -> None:
    buffers = (
        Buffer("input", 64, is_input=True),
        Buffer("carry", 64),
        Buffer("inner", 32),
        Buffer("output", 64, is_output=True),
    )
    instructions = (
        Instruction("fill", 1e-6, (Access(0, 64), Access(1, 0, 64, whole=True))),
        Instruction("body", 1e-6, (Access(1, 64), Access(2, 0, 32, whole=True))),
        Instruction("more", 1e-6, (Access(2, 32),)),
        Instruction("last", 1e-6, (Access(3, 0, 64, whole=True),)),
    )
    program = Program("looped", instructions, buffers, (Loop(1, 3, 5),))
    static = temporaries(Problem(program, TARGETS["tpu-v4i"]))
    assert [(x.name, x.start, x.end) for x in static.buffers] == [
        ("carry", 0, 3),
        ("inner", 1, 3),
    ]
    assert {x.alignment for x in static.buffers} == {4096}
