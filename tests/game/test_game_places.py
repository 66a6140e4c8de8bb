"""Where the game places stays, and whom it shifts: worked out by hand.

Slow memory moves 1 byte a second, fast memory 4: of a buffer of 8 bytes an access takes
8 seconds or 2.
"""

from __future__ import annotations

from dataclasses import replace

from game_cases import (
    DROP,
    FRAGMENTED,
    STAY,
    game_of,
    map_of,
    played,
)
from named_problems import (
    OUT,
    W,
    X,
    Y,
    problem,
    reads,
    target,
    writes,
)

from hybridalloc.game import Game, GameConfig, State
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin
from hybridalloc.program import Buffer, Memory

IDLE = ()
FETCHED, LEFT = Origin.PREFETCHED, Origin.CROSS_PROGRAM


def test_a_stay_begins_in_the_smallest_gap() -> None:
    """Of 0 to 4, 12 to 16 and 24 to 32, y fits in the last alone, and z in the first.

    Reserved is what is between.
    """
    small = Buffer("z", 4)
    given_one = problem(
        (X, small),
        (writes(0), replace(writes(1), write_bytes=4)),
        machine=target(reserved=((4, 12), (16, 24))),
    )
    assert [x.offset for x in map_of(played(Game(given_one), STAY, STAY))] == [24, 0]


def test_a_stay_begins_where_it_is_in_the_way_of_none_that_may_go_on() -> None:
    """X is read at 2 again: y keeps clear of it at 1, if it can."""
    steps = (writes(0),), (writes(1),), (reads(0), reads(1))
    for capacity, offset, legal in ((16, 8, (STAY, DROP)), (8, 0, (DROP,))):
        given_one = problem((X, Y), *steps, machine=target(capacity))
        state = played(Game(given_one), STAY, STAY)
        assert [x.offset for x in map_of(state)] == [0, offset]
        assert state.legal_actions == legal


def test_a_stay_begins_where_it_is_in_the_way_of_no_copy_back() -> None:
    """The output, written first, has until the end to be copied back from 0 to 8."""
    steps = (writes(0),), (writes(1),), ()
    for capacity, offset, due in ((16, 8, 2), (8, 0, 1)):
        given_one = problem(
            (OUT, X), *steps, compute={1: 8.0, 2: 8.0}, machine=target(capacity)
        )
        state = played(Game(given_one), STAY, STAY)
        written, other = map_of(state)
        assert (written.offset, other.offset) == (0, offset)
        assert written.eviction == Eviction(1, due)


def test_the_smallest_gap_need_not_be_the_first() -> None:
    machine = target(reserved=((16, 20), (28, 32)))
    state = played(Game(problem((X,), (writes(0),), machine=machine)), STAY)
    assert [x.offset for x in map_of(state)] == [20]


def test_a_stay_begins_behind_the_scratch_of_its_instructions() -> None:
    """Going on to i1 would need bytes that i1 takes for scratch."""
    given_one = problem((X,), (writes(0),), (reads(0),), scratch={0: 4, 1: 6})
    state = played(Game(given_one), STAY)
    assert [x.offset for x in map_of(state)] == [4]
    assert state.legal_actions == (DROP,)


def test_a_buffer_with_a_fixed_place_is_there_or_in_slow_memory() -> None:
    fixed = Buffer("fixed", 8, offset=4)
    for buffers, offsets in (((fixed, X), [4, 12]), ((X, fixed), [0])):
        state = State.begin(Game(problem(buffers, (writes(0), writes(1)))))
        while not state.is_terminal:
            state = state.apply(state.legal_actions[0])
        assert [x.offset for x in map_of(state)] == offsets


def test_no_place_is_kept_for_what_is_written_anew_before_it_is_read() -> None:
    given_one = problem((X, Y), (writes(0),), (writes(1),), (writes(0),))
    state = played(Game(given_one), STAY, STAY)
    assert [x.offset for x in map_of(state)] == [0, 0]


def test_there_is_no_room_where_memory_is_fragmented() -> None:
    state = played(Game(FRAGMENTED), *[STAY] * 4)
    assert state.legal_actions == (DROP,)


def test_stays_decided_earlier_are_shifted_to_make_room() -> None:
    """Y cannot go to 0, where x is as it begins."""
    state = played(game_of(FRAGMENTED, shifts=True), *[STAY] * 5)
    assert map_of(state) == (
        Allocation(0, 0, 0, 2),
        Allocation(1, 16, 1, 3),
        Allocation(2, 0, 2, 3),
    )


def test_of_those_in_the_way_the_largest_is_placed_anew_first() -> None:
    """Of 8 bytes at 0, 16 at 12 and 12 at 32, what is new needs those in the middle.

    As a and b begin, the others are kept for p and q, which may go on.
    """
    sizes = {"p": 8, "q": 12, "a": 8, "b": 4, "new": 16}
    given_one = problem(
        tuple(Buffer(name, size) for name, size in sizes.items()),
        (writes(0), writes(1)),
        (writes(2), writes(3)),
        (reads(2), reads(3), writes(4)),
        (reads(0), reads(1)),
        machine=target(44, reserved=((8, 12), (28, 32))),
    )
    before = played(game_of(given_one, shifts=True), *[STAY] * 6)
    assert {x.buffer: x.offset for x in map_of(before)} == {0: 0, 1: 32, 2: 12, 3: 20}
    offsets = {x.buffer: x.offset for x in map_of(before.apply(STAY))}
    assert offsets == {0: 0, 1: 32, 2: 0, 3: 32, 4: 12}


def test_a_pinned_buffer_is_not_shifted() -> None:
    """It is in the middle all the time."""
    buffers = replace(W, memory=Memory.FAST), Buffer("large", 16)
    given_one = problem(
        buffers, (reads(0), replace(writes(1), write_bytes=16)), machine=target(24)
    )
    fixed = MemoryMap((Allocation(0, 8, 0, 1, FETCHED, ready=0),))
    game = Game(given_one, GameConfig(shifts=True), fixed)
    assert State.begin(game).legal_actions == (DROP,)


def test_what_cannot_go_on_where_it_is_goes_on_elsewhere_as_a_whole() -> None:
    """Y needs 24 bytes in one piece, so it is in the way of x, which is at 8."""
    small, large = Buffer("small", 8), Buffer("y", 24)
    given_one = problem(
        (X, small, large),
        (writes(1), writes(0)),
        (replace(writes(2), write_bytes=24),),
        (reads(0),),
    )
    paper, extended = game_of(given_one), game_of(given_one, shifts=True)
    before = played(paper, STAY, STAY, STAY)
    assert [x.offset for x in map_of(before)] == [8, 0, 0]
    assert STAY not in before.legal_actions
    assert map_of(played(extended, STAY, STAY, STAY, STAY)) == (
        Allocation(1, 0, 0, 1),
        Allocation(0, 24, 0, 3),
        Allocation(2, 0, 1, 2),
    )
