"""Points as seen from a loop body, in compiled code as in ``Loops``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from named_problems import target
from strategies import programs, targets

from hybridalloc.arrays import Ints
from hybridalloc.incremental.bodies import foreign, outside_after, outside_before
from hybridalloc.incremental.directory import directory
from hybridalloc.incremental.world import build_world
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.program import Instruction, Loop, Program
from hybridalloc.target import Target

ALL, OUTER, INNER, BESIDE = range(-1, 3)
"""Bodies: none, or loops."""
LOOPS = (Loop(1, 6, 3), Loop(2, 4, 5), Loop(6, 8, 2))


class Seen:
    """The loops of a program, as tables."""

    def __init__(self, program: Program, machine: Target) -> None:
        self._tables = build_world(Problem(program, machine), ())
        self.world: Ints = directory(self._tables)


@pytest.fixture(scope="module")
def seen() -> Seen:
    """Nine instructions; a loop from 1 to 6, one in it from 2 to 4, one beside it."""
    return Seen(Program("p", (Instruction("i"),) * 9, (), LOOPS), target())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (ALL, [ALL, ALL, OUTER, OUTER, OUTER, OUTER, ALL, BESIDE, ALL, ALL]),
        (OUTER, [ALL, ALL, ALL, INNER, ALL, ALL, ALL, BESIDE, ALL, ALL]),
        (INNER, [ALL, ALL, ALL, ALL, ALL, ALL, ALL, BESIDE, ALL, ALL]),
    ],
)
def test_foreign_is_the_outermost_loop_that_a_point_lies_within(
    seen: Seen, body: int, expected: list[int]
) -> None:
    """A point at a loop's first instruction, or just after its last, is outside it."""
    assert [foreign(seen.world, point, body) for point in range(10)] == expected


def test_points_move_out_of_foreign_loops_to_the_start_or_the_end(seen: Seen) -> None:
    world = seen.world
    before = [outside_before(world, point, ALL) for point in range(10)]
    after = [outside_after(world, point, ALL) for point in range(10)]
    assert before == [0, 1, 1, 1, 1, 1, 6, 6, 8, 9]
    assert after == [0, 1, 6, 6, 6, 6, 6, 8, 8, 9]
    assert outside_before(world, 3, OUTER) == 2
    assert outside_after(world, 3, OUTER) == 4
    assert outside_before(world, 3, INNER) == outside_after(world, 3, INNER) == 3


@given(programs(max_loops=5), targets(), st.data())
def test_compiled_code_moves_points_as_loops_do(
    program: Program, drawn: Target, data: st.DataObject
) -> None:
    seen, loops = Seen(program, drawn), Loops(program)
    body = data.draw(st.integers(-1, len(program.loops) - 1))
    around = program.loops[body] if body >= 0 else None
    for point in range(len(program) + 1):
        before = outside_before(seen.world, point, body)
        after = outside_after(seen.world, point, body)
        assert before == loops.outside_before(point, around)
        assert after == loops.outside_after(point, around)
