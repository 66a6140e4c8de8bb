"""Which loops are around what."""

from __future__ import annotations

import pytest
from named_problems import W, problem

from hybridalloc.loops import Loops
from hybridalloc.program import Loop

OUTER, INNER, BESIDE = Loop(1, 6, 3), Loop(2, 4, 5), Loop(6, 8, 2)
LOOPS = Loops(problem((W,), *[()] * 9, loops=(OUTER, INNER, BESIDE)).program)


def test_loops_are_around_the_instructions_in_them() -> None:
    assert [LOOPS.around(t) for t in (0, 1, 3, 5, 6)] == [
        (),
        (OUTER,),
        (OUTER, INNER),
        (OUTER,),
        (BESIDE,),
    ]
    assert LOOPS.around_both(1, 3) == (OUTER,)
    assert LOOPS.around_both(5, 6) == ()


def test_a_body_runs_as_often_as_all_loops_around_it() -> None:
    assert [LOOPS.trips(body) for body in (None, OUTER, INNER)] == [1, 3, 15]


def test_what_follows_an_instruction_in_a_body_comes_after_the_loop_it_is_in() -> None:
    assert [LOOPS.after(2, body) for body in (None, OUTER, INNER)] == [6, 4, 3]
    assert LOOPS.inner(2, None) == OUTER
    assert LOOPS.inner(2, INNER) is None


@pytest.mark.parametrize(
    ("point", "before", "after"), [(1, 1, 1), (2, 1, 6), (3, 1, 6), (6, 6, 6)]
)
def test_points_outside_loops_keep_out_of_them(
    point: int, before: int, after: int
) -> None:
    assert LOOPS.outside_before(point, None) == before
    assert LOOPS.outside_after(point, None) == after


def test_points_in_a_body_keep_out_of_the_loops_in_it() -> None:
    assert LOOPS.outside_before(3, OUTER) == 2
    assert LOOPS.outside_after(3, OUTER) == 4
    assert LOOPS.outside_before(3, INNER) == 3
