"""Belady's rule on programs that are walked through by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from named_problems import NAMED, W, X, Y, problem, reads, target, writes

from hybridalloc import Allocation, Loop, Problem, solve
from hybridalloc.baselines.belady import Belady, BeladyConfig, Pass
from hybridalloc.baselines.victims import Rule
from hybridalloc.program import Access, Buffer

PLAIN = Belady(BeladyConfig(passes=(Pass(Rule.FARTHEST, hope=0.0),)))
CHEAPEST = Belady(BeladyConfig(passes=(Pass(Rule.CHEAPEST, hope=0.0),)))
ONE_FITS = target(capacity=8, cross_program_prefetches=0)


def answer(of: Problem, solver: Belady) -> tuple[float, set[int]]:
    """The time of its map, and which buffers are in fast memory at all."""
    result = solve(of, solver, iterations=4)
    assert result.map is not None
    assert result.time is not None
    return result.time, {x.buffer for x in result.map.allocations}


def test_what_is_used_again_farthest_in_the_future_gives_way() -> None:
    """X leaves for y and comes back, both in 50 s; 4 accesses of 2 s: 108 s."""
    of = problem(
        (X, Y),
        (writes(0),),
        (),
        (writes(1),),
        (reads(1),),
        (),
        (reads(0),),
        compute={1: 50.0, 4: 50.0},
        machine=ONE_FITS,
    )
    result = solve(of, PLAIN, iterations=1)
    assert result.time == 108.0
    assert result.map is not None
    stays = [(x.buffer, x.ready, x.end) for x in result.map.allocations]
    assert stays == [(0, 0, 2), (1, 2, 4), (0, 5, 6)]


def test_what_is_used_farther_than_all_others_is_not_admitted() -> None:
    """Y is used after x: 2 s to write x, 8 to write y, 2 to read x, 8 to read y."""
    of = problem(
        (X, Y),
        (writes(0),),
        (writes(1),),
        (reads(0),),
        (reads(1),),
        machine=ONE_FITS,
    )
    assert answer(of, PLAIN) == (20.0, {0})


def test_a_prefetch_does_not_displace_what_is_used_before_it() -> None:
    """W could be fetched in the 50 s, but x is read before; 2 + 50 + 2 + 8 s."""
    of = problem(
        (W, X),
        (writes(1),),
        (),
        (reads(1),),
        (reads(0),),
        compute={1: 50.0},
        machine=ONE_FITS,
    )
    assert answer(of, PLAIN) == (62.0, {1})


def test_the_cheapest_gives_way_even_if_it_is_used_next() -> None:
    """y, of 8 bytes, saves 6 s at each use, and small only 3; there is room for one."""
    small = Buffer("small", 4)
    of = problem(
        (small, Y),
        (replace(writes(0), write_bytes=4),),
        (writes(1),),
        (replace(reads(0), read_bytes=4),),
        (reads(1),),
        machine=ONE_FITS,
    )
    assert answer(of, PLAIN) == (1 + 8 + 1 + 8, {0})
    assert answer(of, CHEAPEST) == (4 + 2 + 4 + 2, {1})


def test_what_gives_way_lies_in_one_stretch_of_bytes() -> None:
    """Of x, y and two of 4 bytes, wide takes the place of x, used last, alone."""
    names = ("x", "a", "y", "b", "wide")
    sizes = (8, 4, 8, 4, 8)
    buffers = tuple(Buffer(*x) for x in zip(names, sizes, strict=True))

    def uses(buffer: int, *, write: bool) -> tuple[Access, ...]:
        size = sizes[buffer]
        if write:
            return (replace(writes(buffer), write_bytes=size),)
        return (replace(reads(buffer), read_bytes=size),)

    of = problem(
        buffers,
        *(uses(i, write=True) for i in range(4)),
        (),
        uses(4, write=True),
        *(uses(i, write=False) for i in (4, 1, 2, 3, 0)),
        compute={4: 50.0},
        machine=target(capacity=24, cross_program_prefetches=0),
    )
    result = solve(of, PLAIN, iterations=1)
    assert result.map is not None
    ends = {x.buffer: x.end for x in result.map.allocations if x.ready < 6}
    assert ends == {0: 5, 1: 8, 2: 9, 3: 10, 4: 7}


@pytest.mark.parametrize(("patience", "seconds"), [(0.2, 210.0), (0.001, 804.0)])
def test_copies_are_waited_for_as_long_as_patience_lasts(
    patience: float, seconds: float
) -> None:
    """They save 600 s in the loop, and the program waits 6 s for them: 1 %.

    With them 2 s to write x, in which the copy begins, 6 to wait, 100 * 2 and 2 to
    read x; without them 2 + 100 * 8 + 2.
    """
    looping = problem(
        (W, X),
        (writes(1),),
        (reads(0),),
        (reads(1),),
        loops=(Loop(1, 2, trip_count=100),),
        machine=target(cross_program_prefetches=0),
    )
    ways = (Pass(Rule.FARTHEST, hope=0.0),)
    solver = Belady(BeladyConfig(passes=ways, patience=patience))
    assert answer(looping, solver)[0] == seconds


def test_a_weight_is_there_from_the_previous_run_on() -> None:
    """As greedy finds it: 2 + 2, 2 + 2 and 2 + 8 s."""
    assert answer(NAMED["a chain"], Belady())[0] == 18.0


def test_what_is_pinned_does_not_give_way() -> None:
    of = NAMED["pinned buffers"]
    result = solve(of, Belady(), iterations=4)
    assert result.map is not None
    assert {x.buffer for x in result.map.allocations} == {0, 1, 2}


def test_a_fixed_place_is_kept() -> None:
    of = NAMED["scratch, a reserved range and a fixed place"]
    result = solve(of, Belady(), iterations=4)
    assert result.map is not None
    fixed: list[Allocation] = [x for x in result.map.allocations if x.buffer == 1]
    assert [x.offset for x in fixed] == [16]
