"""The fast game is the pure one: step for step, and whatever is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from game_cases import (
    COPY,
    DROP,
    LOOP_AND_CHAIN,
    NO_EVICTIONS,
    STAY,
    actions_of,
    chooser,
    drawn_game,
    ended,
    game_of,
    played,
    with_limits,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from named_problems import CHAIN, NAMED
from small_problems import Sizes, small_problem
from strategies import problems

from hybridalloc.checker import check
from hybridalloc.game import Action, Game, State
from hybridalloc.game.action import INSTEAD
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.io.read import read_problem
from hybridalloc.problem import Problem
from hybridalloc.target import MIB

SIZES = Sizes(buffers=9, instructions=24, loops=5)
LIMITS = st.sampled_from([0, 1, 2, 40])
"""Of outstanding copies."""


def agree(state: State, position: Position) -> None:
    """What may be done is the same, and what the program takes."""
    legal = [Action(x) for x in np.flatnonzero(position.mask()).tolist()]
    assert (position.step, legal) == (state.step, list(state.legal_actions))
    slow_s = state.game.simulator.slow_s
    assert position.time_s == pytest.approx(state.time_s, rel=1e-9, abs=1e-9 * slow_s)


def play_both(game: Game, seed: int) -> tuple[State, Position]:
    """The ends of a random game, played in both, which agree at every step."""
    state, position, choose = State.begin(game), FastGame(game).begin(), chooser(seed)
    agree(state, position)
    while not state.is_terminal:
        action = choose(state)
        before = state.time_s
        state = state.apply(action)
        saved_s = position.apply(action)
        slow_s = game.simulator.slow_s
        assert saved_s == pytest.approx(before - state.time_s, abs=2e-9 * slow_s)
        agree(state, position)
    assert position.is_terminal
    assert position.memory_map() == state.memory_map()
    assert list(position.taken) == actions_of(state)
    return state, position


@settings(max_examples=150)
@given(problems(pinned=True), st.integers(0, 9999), st.booleans(), st.booleans())
def test_both_games_are_the_same_on_drawn_programs(
    drawn: Problem, seed: int, waits: bool, shifts: bool
) -> None:
    play_both(drawn_game(drawn, waits=waits, shifts=shifts), seed)


@settings(max_examples=150)
@given(st.integers(0, 99999), LIMITS, LIMITS, st.booleans(), st.booleans())
def test_both_games_are_the_same_where_few_copies_may_be_outstanding(
    seed: int, prefetches: int, evictions: int, waits: bool, shifts: bool
) -> None:
    """On larger random programs, with loops within loops and little fast memory."""
    drawn = with_limits(small_problem(seed, SIZES), prefetches, evictions)
    play_both(drawn_game(drawn, waits=waits, shifts=shifts), seed)


@pytest.mark.parametrize("name", NAMED)
def test_both_games_are_the_same_on_programs_by_name(name: str) -> None:
    for seed in range(8):
        game = game_of(NAMED[name], waits=bool(seed & 1), shifts=bool(seed & 2))
        play_both(game, seed)


@pytest.mark.parametrize("cost_model", ["roofline", "cycles"])
def test_both_games_are_the_same_on_a_real_program(
    bundled: Path, cost_model: str
) -> None:
    given_one = read_problem(bundled / "lstm_lm_b64_s128", cost_model=cost_model)
    for seed, mib in enumerate((2, 4, 8)):
        small = given_one.with_capacity(mib * MIB)
        play_both(game_of(small, waits=seed > 0, shifts=seed > 1), seed)


@settings(max_examples=150)
@given(problems(pinned=True), st.integers(0, 9999), st.booleans(), st.booleans())
def test_a_line_is_followed_as_far_as_it_is_legal(
    drawn: Problem, seed: int, waits: bool, shifts: bool
) -> None:
    fast = FastGame(drawn_game(drawn, waits=waits, shifts=shifts))
    random, steps = np.random.default_rng(seed), len(fast.game.steps)
    line, free = random.integers(0, 3, steps), random.random(steps) < 0.3
    followed, alone = fast.begin(), fast.begin()
    while not followed.is_terminal:
        followed.follow(line, free, int(random.integers(1, 4)))
        if not followed.is_terminal and free[followed.step]:
            followed.apply(int(np.flatnonzero(followed.mask())[0]))
    while not alone.is_terminal:
        legal = alone.mask()
        wishes = INSTEAD[line[alone.step]] if not free[alone.step] else list(Action)
        alone.apply(next(x for x in wishes if legal[x]))
    assert followed.taken == alone.taken
    assert followed.time_s == alone.time_s


def test_drop_backup_leads_both_games_to_the_same_position() -> None:
    game = Game(NO_EVICTIONS)
    state, position = State.begin(game), FastGame(game).begin()
    for action, saved_s in ((STAY, 6), (STAY, 4 - 10), (STAY, 4), (DROP, 0)):
        state = state.apply(action)
        assert position.apply(action) == saved_s
        agree(state, position)
    assert position.taken == (DROP, STAY, DROP)


def backups() -> Iterator[tuple[Game, int]]:
    """Games with Drop-backup, and their seeds."""
    for seed in count():
        given_one = with_limits(small_problem(seed, SIZES), 2, seed % 3 // 2)
        if not any(x.memory == "fast" for x in given_one.program.buffers):
            game = game_of(given_one)
            state = ended(game, chooser(seed))
            if len(state.rewards) > state.step:
                yield game, seed


def test_both_games_are_the_same_where_drop_backup_is_needed() -> None:
    for (game, seed), _ in zip(backups(), range(20), strict=False):
        state, _ = play_both(game, seed)
        assert len(state.rewards) > state.step


def test_copies_of_a_position_are_independent_of_each_other() -> None:
    """Whichever is played, the others stay where they are, and play the same."""
    fast = FastGame(Game(LOOP_AND_CHAIN))
    one = fast.begin()
    one.apply(STAY)
    other = one.copy()
    for action in (COPY, STAY, STAY, STAY, STAY):
        one.apply(action)
    assert (other.step, other.taken) == (1, (STAY,))
    assert other.memory_map() == played(fast.game, STAY).memory_map()
    agree(played(fast.game, STAY), other)
    for action in (COPY, STAY, STAY, STAY, STAY):
        other.apply(action)
    assert other.memory_map() == one.memory_map()
    assert other.time_s == one.time_s
    assert fast.begin().step == 0


@settings(max_examples=60)
@given(st.integers(0, 99999), st.integers(0, 60), st.booleans(), st.booleans())
def test_a_copy_made_anywhere_goes_on_as_the_position_itself(
    seed: int, at: int, waits: bool, shifts: bool
) -> None:
    drawn = with_limits(small_problem(seed, SIZES), seed % 4, seed % 3)
    position = FastGame(drawn_game(drawn, waits=waits, shifts=shifts)).begin()
    position.play_randomly(np.random.default_rng(seed), at)
    copied, used = position.copy(), position.game.begin()
    used.play_randomly(np.random.default_rng(1), 10**6)
    position.copy_to(used)
    ends = []
    for each in (position, copied, used):
        made = each.play_randomly(np.random.default_rng(seed + 1), 10**6)
        ends.append((made, each.taken, each.time_s, each.memory_map()))
    assert ends[0] == ends[1] == ends[2]


def test_random_play_ends_in_valid_maps_and_counts_what_it_took() -> None:
    fast = FastGame(Game(CHAIN))
    for seed in range(50):
        position = fast.begin()
        assert position.play_randomly(np.random.default_rng(seed), 4) == 4
        assert position.play_randomly(np.random.default_rng(seed), 99) == 2
        assert position.is_terminal
        assert check(CHAIN, position.memory_map()) == ()
        assert not position.mask().any()


def test_random_play_takes_every_legal_action_equally_often() -> None:
    fast, random = FastGame(Game(CHAIN)), np.random.default_rng(0)
    taken = []
    for _ in range(2000):
        position = fast.begin()
        position.play_randomly(random, 2)
        taken.append(position.taken[1])
    assert taken.count(STAY) == pytest.approx(1000, abs=100)
    assert taken.count(COPY) == 0


@pytest.mark.parametrize("action", [COPY, -1, 3])
def test_an_illegal_action_is_refused_and_the_legal_ones_are_named(action: int) -> None:
    position = FastGame(Game(CHAIN)).begin()
    position.apply(DROP)
    expected = r"step 1: action .* is not legal \(expected one of: NO_COPY, DROP\)"
    with pytest.raises(ValueError, match=expected):
        position.apply(action)
    assert position.step == 1
    agree(played(position.game.game, DROP), position)


def test_an_ended_game_has_no_legal_action() -> None:
    position = FastGame(Game(CHAIN)).begin()
    position.play_randomly(np.random.default_rng(0), 6)
    with pytest.raises(ValueError, match=r"step 6: .* \(expected one of: none\)"):
        position.apply(DROP)


def test_games_without_steps_are_over_at_once() -> None:
    nothing = replace(CHAIN, target=CHAIN.target.with_capacity(4))
    fast = FastGame(Game(nothing))
    assert fast.begin().is_terminal
    assert fast.begin().time_s == 48
    assert len(fast.begin().memory_map()) == 0
