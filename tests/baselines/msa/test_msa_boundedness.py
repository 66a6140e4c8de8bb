"""In which order buffers are taken up, by scores computed by hand.

What reads 8 bytes from fast memory saves 8 - 2 = 6 seconds; the score is that over the
square root of the buffer's size.
"""

from __future__ import annotations

from dataclasses import replace

from msa_cases import of, own_size, reads, writes

from hybridalloc.baselines.msa.boundedness import in_order
from hybridalloc.baselines.msa.lifetimes import Lifetimes
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Loop, Memory
from hybridalloc.solver import Run


def order(problem: Problem, **options: object) -> list[str]:
    """The names of the buffers."""
    program, loops = problem.program, Loops(problem.program)
    lifetimes = Lifetimes(program, loops)
    found = in_order(problem, loops, lifetimes, own_size(**options), Run())
    return [program.buffers[index].name for index in found]


def inputs(**sizes: int) -> tuple[Buffer, ...]:
    """Of these sizes, by name."""
    return tuple(Buffer(name, size, is_input=True) for name, size in sizes.items())


def test_what_saves_more_comes_first() -> None:
    assert order(of(inputs(a=8, b=8), (reads(0), reads(1)), (reads(1),))) == ["b", "a"]


def test_the_square_root_of_the_size_counts_against_a_buffer() -> None:
    """6 / 2 = 3 for the 4 bytes that are read twice over, and 6 / 4 for the 16."""
    assert order(of(inputs(a=16, b=4), (reads(0),), (reads(1),))) == ["b", "a"]


def test_of_equal_scores_the_larger_buffer_comes_first() -> None:
    """3 / 2 and 6 / 4."""
    assert order(of(inputs(a=4, b=16), (reads(0, 4),), (reads(1),))) == ["b", "a"]


def test_scores_that_agree_in_five_digits_are_equal() -> None:
    """750000 and 750001 of a million bytes saved; the one that is there longer wins."""
    size = 10**6
    almost = of(inputs(a=size, b=size), (), (reads(1, size + 1),), (reads(0, size),))
    assert order(almost.with_capacity(2 * size)) == ["a", "b"]


def test_of_equal_sizes_the_longer_life_comes_first() -> None:
    assert order(of(inputs(a=8, b=8), (reads(0),), (reads(1),))) == ["b", "a"]


def test_of_equal_lives_the_one_that_is_over_first_comes_first() -> None:
    temporaries = Buffer("a", 8), Buffer("b", 8)
    late = of(temporaries, (writes(1),), (reads(1),), (writes(0),), (reads(0),))
    assert order(late) == ["b", "a"]


def test_of_equal_ends_the_order_is_that_of_the_buffers() -> None:
    assert order(of(inputs(a=8, b=8), (reads(0), reads(1)))) == ["a", "b"]


def test_a_loop_counts_five_times_whatever_its_trips() -> None:
    """Five times 6 s of b, and four times those of a."""
    steps = [(reads(0),)] * 4
    looping = of(inputs(a=8, b=8), *steps, (reads(1),), loops=(Loop(4, 5, 2),))
    assert order(looping) == ["b", "a"]
    assert order(looping, while_execution_count=3) == ["a", "b"]


def test_what_only_computes_loses_what_computing_takes_longer() -> None:
    """a: 8 - 9 = -1 s; b: 8 - 20 = -12 s, and with it in any loop the same."""
    slow = of(
        inputs(b=8, a=8),
        (reads(0),),
        (reads(1),),
        compute={0: 20.0, 1: 9.0},
        loops=(Loop(0, 1, 3),),
    )
    assert order(slow) == ["a", "b"]


def test_the_definition_of_a_temporary_counts_and_that_of_an_input_is_nothing() -> None:
    """To x 6 + 6 s, to w 6, and to u none: the instruction that reads it computes."""
    buffers = (*inputs(u=8, w=8), Buffer("x", 8))
    program = of(
        buffers,
        (writes(2),),
        (reads(1), reads(2)),
        (reads(0),),
        compute={2: 20.0},
    )
    assert order(program) == ["x", "w", "u"]


def test_what_may_not_be_in_fast_memory_has_no_turn() -> None:
    """Too large, of no bytes, never used, or pinned to either memory."""
    some = inputs(large=33, none=0, unused=8, slow=8, fast=8, plain=8)
    pins = {"slow": Memory.SLOW, "fast": Memory.FAST}
    buffers = tuple(replace(b, memory=pins.get(b.name, Memory.ANY)) for b in some)
    used = [Access(i, read_bytes=buffers[i].size) for i in (0, 1, 3, 4, 5)]
    assert order(of(buffers, tuple(used))) == ["plain"]


def test_a_buffer_of_just_the_capacity_has_its_turn() -> None:
    assert order(of(inputs(large=32), (reads(0),))) == ["large"]
