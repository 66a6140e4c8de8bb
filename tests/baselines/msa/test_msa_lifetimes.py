"""How the accesses of a buffer look to XLA: a loop is one use."""

from __future__ import annotations

from named_problems import DONATED, NAMED, OUT, W, X, reads, updates, writes

from hybridalloc.baselines.msa.lifetimes import Level, Lifetimes, Use
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.program import Instruction, Loop, Program


def lifetimes(of: Problem | Program) -> Lifetimes:
    """Of a program."""
    program = of.program if isinstance(of, Problem) else of
    return Lifetimes(program, Loops(program))


CARRIED = NAMED["a value carried by a loop"]
"""x is written before the loop [1, 3), read and written in it, and read after."""
BODY = Loop(1, 3, trip_count=5)


def test_outside_loops_each_access_is_a_use() -> None:
    level = lifetimes(NAMED["an update in place"]).top(0)
    assert level == Level(
        buffer=0,
        body=None,
        uses=(
            Use(0, 0, 0, 0, writes=True, defines=True),
            Use(1, 1, 1, 1, writes=True, defines=False),
            Use(2, 2, 2, 2, writes=True, defines=False),
            Use(3, 3, 3, 3, writes=False, defines=False),
        ),
        start=0,
        end=None,
    )
    assert level.uses[1].due == 1


def test_all_accesses_in_a_loop_are_one_use_due_before_the_loop() -> None:
    level = lifetimes(CARRIED).top(0)
    loop = Use(1, 2, 1, 2, writes=True, defines=False, loop=BODY)
    assert level.uses[1] == loop
    assert loop.due == 0
    assert [use.start for use in level.uses] == [0, 1, 3]


def test_what_each_trip_begins_anew_lives_in_the_loop() -> None:
    level = lifetimes(CARRIED).top(1)
    assert (level.body, level.start, level.end) == (BODY, 1, None)
    assert [use.start for use in level.uses] == [1, 2]


def test_what_is_used_in_the_next_trip_is_needed_at_the_end_of_each() -> None:
    level = lifetimes(CARRIED).level(0, BODY)
    assert (level.start, level.end) == (1, 2)
    assert [use.first for use in level.uses] == [1, 2]


def test_what_a_loop_leaves_is_needed_at_its_end() -> None:
    """That is y, written in the loop [1, 3), and read after it."""
    left = lifetimes(NAMED["a value that a loop leaves"])
    assert left.top(1).body is None
    assert left.level(1, Loop(1, 3, trip_count=4)).end == 2


def test_in_nested_loops_the_use_is_the_outermost_within_the_body() -> None:
    """y: written at 1, read at 2 and updated at 3 in the inner loop, read at 4."""
    nested = NAMED["loops within and beside loops"]
    outer, inner, _ = nested.program.loops
    level = lifetimes(nested).top(2)
    assert level.body == outer
    assert [(use.start, use.end, use.loop) for use in level.uses] == [
        (1, 1, None),
        (2, 3, inner),
        (4, 4, None),
    ]


def test_an_output_is_needed_at_the_end_of_the_program() -> None:
    donated = lifetimes(NAMED["a donated buffer"]).top(0)
    assert (donated.start, donated.end) == (-1, 4)


def listed(*names: str) -> Program:
    """An input w that ``reader`` reads, in a schedule of these names."""
    steps = (
        Instruction(name, accesses=(reads(0),) if name == "reader" else ())
        for name in names
    )
    return Program("listed", tuple(steps), (W,))


def test_an_input_is_there_from_where_the_schedule_lists_it() -> None:
    assert lifetimes(listed("a", "w", "b", "reader")).definition(0) == 1
    assert lifetimes(listed("a", "w", "b", "reader")).top(0).start == 1


def test_an_input_that_is_listed_nowhere_or_too_late_is_there_from_the_start() -> None:
    assert lifetimes(listed("a", "reader")).definition(0) == -1
    assert lifetimes(listed("a", "reader", "w")).definition(0) == -1


def test_a_temporary_is_there_from_its_first_access() -> None:
    assert lifetimes(CARRIED).definition(1) == 1


def test_the_first_value_ends_where_another_takes_over() -> None:
    """An update makes another value; without one it lasts to the last use, or on."""
    steps = ((writes(0), reads(1)), (updates(1),), (reads(0), reads(1)), (writes(2),))
    instructions = tuple(Instruction(f"i{t}", accesses=x) for t, x in enumerate(steps))
    found = lifetimes(Program("ends", instructions, (X, DONATED, OUT)))
    assert [found.first_end(buffer) for buffer in range(3)] == [2, 1, 3]
