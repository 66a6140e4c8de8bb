"""The rules of the game, on programs worked out by hand and on drawn ones.

Slow memory moves 1 byte a second, fast memory 4: of a buffer of 8 bytes an access takes
8 seconds or 2.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from game_cases import (
    COPY,
    DONATED_BUFFER,
    DROP,
    LOOP_AND_CHAIN,
    NO_EVICTIONS,
    STAY,
    chooser,
    drawn_game,
    ended,
    map_of,
    played,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from named_problems import (
    CHAIN,
    FASTEST,
    OUT,
    SLOW,
    W,
    X,
    Y,
    problem,
    reads,
    target,
    writes,
)
from strategies import problems

from hybridalloc.checker import check
from hybridalloc.game import Game, State
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin
from hybridalloc.oracle import execute
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer, Loop, Memory
from hybridalloc.simulator import Simulator, simulate
from hybridalloc.target import CopyEngine

IDLE = ()
FETCHED, LEFT = Origin.PREFETCHED, Origin.CROSS_PROGRAM


def test_a_step_is_an_access_operands_before_outputs() -> None:
    steps = [(x.instruction, x.buffer, x.use) for x in Game(CHAIN).steps]
    assert steps == [(0, 0, 0), (0, 1, 0), (1, 1, 1), (1, 2, 0), (2, 2, 1), (2, 3, 0)]


def test_what_fits_nowhere_or_may_not_be_in_fast_memory_is_not_played() -> None:
    large = problem((W, Buffer("large", 64, is_input=True)), (reads(0), reads(1)))
    assert [x.buffer for x in Game(large).steps] == [0]


def test_a_buffer_whose_only_offset_is_not_aligned_is_not_played() -> None:
    odd, even = (Buffer(f"at {x}", 8, is_input=True, offset=x) for x in (6, 8))
    assert [
        x.buffer for x in Game(problem((odd, even), (reads(0), reads(1)))).steps
    ] == [1]


def test_a_whole_write_without_a_copy_allocates() -> None:
    state = played(Game(CHAIN), DROP, STAY)
    assert map_of(state) == (Allocation(1, 0, 0, 1),)
    assert state.rewards == (0, 6)


def test_going_on_extends_the_stay_at_the_same_offset() -> None:
    state = played(Game(CHAIN), DROP, STAY, STAY, STAY, STAY)
    assert state.memory_map() == FASTEST
    assert state.rewards == (0, 6, 6, 6, 6)
    assert state.time_s == 24


def test_all_dropped_is_all_in_slow_memory() -> None:
    state = played(Game(CHAIN), *[DROP] * 6)
    assert state.is_terminal
    assert state.memory_map() == SLOW
    assert state.rewards == (0,) * 6


def test_a_position_stays_as_it_is_when_an_action_is_applied() -> None:
    before = played(Game(CHAIN), DROP, STAY)
    legal, held = before.legal_actions, before.memory_map()
    after = before.apply(STAY)
    assert (before.step, after.step) == (2, 3)
    assert (before.legal_actions, before.memory_map()) == (legal, held)
    assert before.apply(DROP).rewards == (0, 6, -8)  # x is copied back, in a stall


def test_an_illegal_action_is_refused_and_the_legal_ones_are_named() -> None:
    state = played(Game(CHAIN), DROP)
    expected = r"step 1: action COPY is not legal \(expected one of: NO_COPY, DROP\)"
    with pytest.raises(ValueError, match=expected):
        state.apply(COPY)
    end = played(Game(CHAIN), *[DROP] * 6)
    assert end.legal_actions == ()
    with pytest.raises(ValueError, match=r"step 6: .* \(expected one of: none\)"):
        end.apply(DROP)


def test_a_whole_write_without_a_copy_begins_anew() -> None:
    """What x was before is over; it is not needed, so it is not copied back."""
    given_one = problem((X,), (writes(0),), IDLE, (writes(0),), (reads(0),))
    expected = (Allocation(0, 0, 0, 1), Allocation(0, 0, 2, 4))
    assert map_of(played(Game(given_one), STAY, STAY, STAY)) == expected


def test_a_donated_buffer_is_copied_there_updated_and_copied_back() -> None:
    """i1 to i3 have nothing but their traffic: 8, 8 and 32 seconds."""
    state = played(Game(DONATED_BUFFER), DROP, COPY, STAY, DROP)
    eviction = Eviction(2, 4)
    expected = Allocation(0, 0, 0, 4, FETCHED, ready=1, eviction=eviction)
    assert map_of(state) == (expected,)
    assert state.rewards == (0, 6, 6, 0)


def test_a_buffer_in_a_loop_keeps_its_place_to_the_end_of_the_loop() -> None:
    """X is read at 1 alone, and in each trip: until 3, whatever i2 does."""
    given_one = problem(
        (X, Y),
        (writes(0),),
        (reads(0),),
        (writes(1),),
        loops=(Loop(1, 3, trip_count=4),),
    )
    state = played(Game(given_one), STAY, STAY)
    assert map_of(state) == (Allocation(0, 0, 0, 3),)
    assert state.rewards == (6, 24)


def test_what_a_loop_has_reserved_is_used_there() -> None:
    state = played(Game(LOOP_AND_CHAIN), STAY, DROP, STAY)
    assert map_of(state) == (Allocation(0, 0, 0, 3),)
    assert state.legal_actions == (STAY,)
    assert state.rewards == (6 - 6, 0, 48)  # i0 computes for 20 anyway


def test_drop_backup_goes_back_to_where_the_stuck_buffer_may_be_dropped() -> None:
    """Y is where x was: x can neither go on nor be copied back."""
    state = played(Game(NO_EVICTIONS), STAY, STAY)
    assert state.step == 1
    assert state.rewards == (6, 4, -10)
    assert state.action is DROP
    assert state.memory_map() == SLOW
    assert state.time_s == Simulator(NO_EVICTIONS).slow_s


def test_drop_backup_passes_over_decisions_that_could_not_be_otherwise() -> None:
    """X goes on at 1, since it can't be copied back; it is stuck at 3, behind y."""
    given_one = problem(
        (X, Y),
        (writes(0),),
        (reads(0),),
        (writes(1),),
        (reads(0), reads(1)),
        machine=target(8, engine=CopyEngine(max_outstanding_evictions=0)),
    )
    state = played(Game(given_one), STAY, STAY)
    assert state.before is not None
    assert state.before.legal_actions == (STAY,)
    state = state.apply(STAY)
    assert (state.step, state.action) == (1, DROP)
    assert state.memory_map() == SLOW
    assert state.rewards == (6, 6, 6, -18)


def test_play_goes_on_after_drop_backup_and_rewards_still_sum() -> None:
    state = played(Game(NO_EVICTIONS), STAY, STAY, STAY, DROP, STAY, DROP)
    assert state.is_terminal
    assert map_of(state) == (Allocation(1, 0, 1, 3),)
    assert state.rewards == (6, 4, -10, 4, 0, 6, 0)
    assert state.returns == Simulator(NO_EVICTIONS).slow_s - state.time_s


def test_drop_backup_at_the_end_drops_an_output_that_cannot_be_copied_back() -> None:
    machine = target(engine=CopyEngine(max_outstanding_evictions=0))
    state = played(Game(problem((OUT,), (writes(0),), machine=machine)), STAY)
    assert state.is_terminal
    assert state.memory_map() == SLOW
    assert state.rewards == (6, -6)


def test_drop_backup_drops_the_output_that_is_one_too_many() -> None:
    """Both would be outstanding at the end, where one may be."""
    machine = target(engine=CopyEngine(max_outstanding_evictions=1))
    outputs = OUT, Buffer("other", 8, is_output=True)
    given_one = problem(outputs, (writes(0), writes(1)), machine=machine)
    state = played(Game(given_one), STAY, STAY)
    assert state.is_terminal
    assert map_of(state) == (Allocation(0, 0, 0, 1, eviction=Eviction(1, 1)),)
    assert sum(state.rewards) == 16 - state.time_s == -2


def test_pinned_buffers_are_not_played_and_must_be_given_a_place() -> None:
    """W is at 0 all the time: x begins behind it."""
    pinned = replace(CHAIN.program.buffers[0], memory=Memory.FAST)
    program = replace(CHAIN.program, buffers=(pinned, *CHAIN.program.buffers[1:]))
    given_one = replace(CHAIN, program=program)
    with pytest.raises(ValueError, match="buffer w is pinned to fast memory"):
        Game(given_one)
    fixed = Allocation(0, 0, 0, 1, FETCHED, ready=0)
    game = Game(given_one, fixed=MemoryMap((fixed,)))
    assert len(game.steps) == 5
    assert map_of(played(game, STAY)) == (fixed, Allocation(1, 8, 0, 1))


@given(problems(max_loops=0), st.integers(0, 99))
def test_outside_loops_drop_is_always_legal(drawn: Problem, seed: int) -> None:
    """Where the copy engine allows it."""
    target = replace(drawn.target, copy_engine=CopyEngine())
    choose, state = chooser(seed), State.begin(Game(replace(drawn, target=target)))
    while not state.is_terminal:
        assert DROP in state.legal_actions
        state = state.apply(choose(state))
    assert len(state.rewards) == state.step  # no Drop-backup


@settings(max_examples=200)
@given(problems(pinned=True), st.integers(0, 9999), st.booleans(), st.booleans())
def test_every_game_ends_in_a_valid_map_and_its_rewards_sum_to_what_it_saves(
    drawn: Problem, seed: int, waits: bool, shifts: bool
) -> None:
    """One in four is executed by the oracle, too."""
    game = drawn_game(drawn, waits=waits, shifts=shifts)
    state = ended(game, chooser(seed))
    memory_map = state.memory_map()
    assert check(drawn, memory_map) == ()
    assert seed % 4 or execute(drawn, memory_map) == ()
    begun = State.begin(game).time_s
    found = simulate(drawn, memory_map).time_s
    assert state.returns == pytest.approx(begun - found, rel=1e-9, abs=1e-9 * begun)
