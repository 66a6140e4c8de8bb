"""What is live when."""

from __future__ import annotations

from named_problems import problem, reads, temporaries, writes

from hybridalloc.liveness import live_bytes
from hybridalloc.program import Buffer, Loop


def test_a_buffer_that_a_loop_finds_alive_lives_to_its_end() -> None:
    program = problem(
        (*temporaries(2), Buffer("out", 8, is_output=True), Buffer("w", 8, True)),
        (writes(0),),
        (reads(0), writes(1)),
        (reads(1), reads(3)),
        (),
        (writes(2),),
        loops=(Loop(1, 4, trip_count=3),),
    ).program
    # The first temporary and the input until 4; the second only where it is used.
    assert live_bytes(program).tolist() == [16, 24, 24, 16, 8]


def test_an_input_that_a_loop_reads_first_lives_to_its_end() -> None:
    weights = Buffer("w", 8, is_input=True)
    looped = problem((weights,), (reads(0),), (), loops=(Loop(0, 2, trip_count=2),))
    assert live_bytes(looped.program).tolist() == [8, 8]


def test_of_two_loops_the_outer_one_that_finds_a_buffer_alive_keeps_it() -> None:
    """It is written in the outermost, before the two within; read in the innermost."""
    loops = (Loop(0, 6, 2), Loop(1, 5, 2), Loop(2, 3, 2))
    nested = problem(
        temporaries(1), (writes(0),), (), (reads(0),), (), (), (), loops=loops
    )
    assert live_bytes(nested.program).tolist() == [8, 8, 8, 8, 8, 0]


def test_what_nothing_accesses_is_never_live() -> None:
    unused = problem((Buffer("w", 8, is_input=True),), (), ())
    assert live_bytes(unused.program).tolist() == [0, 0]
