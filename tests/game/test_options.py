"""Options: heuristics that are followed in the game."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from game_cases import (
    COPY,
    DROP,
    LOOP_AND_CHAIN,
    NO_EVICTIONS,
    STAY,
    advised,
    drawn_game,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from small_problems import Sizes, small_problem

from hybridalloc.game import Action, Game, Option, State, advice
from hybridalloc.game.fast import FastGame
from hybridalloc.game.transcript import transcript

SIZES = Sizes(buffers=9, instructions=24, loops=5)
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.booleans())
def test_the_fast_game_follows_as_the_pure_one_does(seed: int, more: bool) -> None:
    drawn = small_problem(seed, SIZES)
    game = advised(drawn_game(drawn, waits=more, shifts=more), seed)
    random = np.random.default_rng(seed)
    state, position = State.begin(game), FastGame(game).begin()
    slow_s = state.time_s
    while not state.is_terminal:
        legal = np.flatnonzero(position.mask()).tolist()
        options = [game.advice.option_of(x) for x in legal if x >= len(Action)]
        assert tuple(options) == state.legal_options
        chosen = int(random.choice(legal))
        before_s = position.time_s
        saved_s = position.apply(chosen)
        state = state.apply(game.advice.option_of(chosen) or Action(chosen))
        assert saved_s == pytest.approx(before_s - position.time_s)
        assert position.step == state.step
        assert position.time_s == pytest.approx(
            state.time_s, rel=1e-9, abs=1e-9 * slow_s
        )
    assert position.memory_map() == state.memory_map()
    assert state.returns == pytest.approx(slow_s - state.time_s, abs=1e-9 * slow_s)


def test_who_may_not_be_followed_only_votes() -> None:
    game = Game(LOOP_AND_CHAIN)
    made = replace(advice([("stay", [STAY] * 6)], 6), may_be_followed=False)
    game = game.advised(made)
    assert State.begin(game).legal_options == ()
    assert FastGame(game).begin().mask().tolist() == [True, False, True, False, False]
    assert made.followed.shape == (0, 6)


def test_an_option_goes_on_until_its_buffer_is_decided_on_again() -> None:
    game = Game(LOOP_AND_CHAIN)
    assert [x.buffer for x in game.steps] == [0, 1, 0, 0, 0, 2]
    assert game.until.tolist() == [2, 6, 3, 4, 6, 6]
    game = game.advised(advice([("all", [STAY, COPY, STAY, STAY, STAY, DROP])], 6))
    once, until = game.advice.options
    assert State.begin(game).apply(once).step == 1
    assert State.begin(game).apply(until).step == 2
    with_copy = State.begin(game).apply(once)
    assert with_copy.apply(until).is_terminal


def test_only_what_begins_with_a_legal_action_may_be_followed() -> None:
    game = Game(LOOP_AND_CHAIN)
    game = game.advised(advice([("a", [COPY] * 6), ("b", [STAY] * 6)], 6))
    state, position = State.begin(game), FastGame(game).begin()
    assert state.legal_options == (Option(1, False), Option(1, True))
    assert position.mask().tolist() == [True, False, True, False, True, False, True]
    with pytest.raises(ValueError, match="FOLLOW a until next is not legal"):
        state.apply(Option(0, until_next=True))
    with pytest.raises(ValueError, match="expected one of: NO_COPY, DROP, FOLLOW b"):
        position.apply(3)


def test_a_dead_end_is_left_while_a_heuristic_is_followed() -> None:
    game = Game(NO_EVICTIONS)
    steps = len(game.steps)
    game = game.advised(advice([("stay", [STAY] * steps)], steps))
    state, position = State.begin(game), FastGame(game).begin()
    while not state.is_terminal:
        legal: list[Action | Option] = [*state.legal_actions, *state.legal_options]
        state = state.apply(legal[-1])
        position.apply(int(np.flatnonzero(position.mask())[-1]))
        assert position.step == state.step
    assert position.memory_map() == state.memory_map()


def test_a_transcript_tells_who_was_followed() -> None:
    game = Game(LOOP_AND_CHAIN)
    lines = [("eager", [0, 1, 0, 0, 0, 0]), ("slow", [2] * 6)]
    game = game.advised(advice(lines, 6))
    told = transcript(game, lambda state: state.legal_options[-2], moves=1)
    assert "  may follow: eager (NO_COPY), slow (DROP)\n" in told
    assert "  FOLLOW eager until next: " in told
    first, second = told.index("  NO_COPY: "), told.index("  COPY: ")
    assert first < told.index("step 1: instruction 1") < second


def test_votes_are_shares_and_lines_what_has_most() -> None:
    parts = [[1, 3, 0], [2, 2, 4]]
    made = advice([("parts", parts), ("line", [DROP, STAY])], 2)
    assert made.votes.tolist() == [
        [[0.25, 0.75, 0.0], [0.25, 0.25, 0.5]],
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
    ]
    assert made.lines.tolist() == [[COPY, DROP], [DROP, STAY]]


@pytest.mark.parametrize(
    ("votes", "message"),
    [
        ([0], "for each of 2 steps; got an array of shape .1,."),
        ([0, 3], "step 1: 3 is no action"),
        ([[1, 0, 0], [0, 0, 0]], "step 1: expected three numbers of at least 0"),
        ([[1, -1, 0], [1, 0, 0]], "step 0: expected three numbers of at least 0"),
        ([[1, np.nan, 0], [1, 0, 0]], "step 0: expected three numbers of at least 0"),
    ],
)
def test_what_is_no_vote_is_refused(votes: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=f"advice of 'own'.*{message}"):
        advice([("own", votes)], 2)


def test_names_are_told_apart() -> None:
    with pytest.raises(ValueError, match="two heuristics called 'a'"):
        advice([("a", [0]), ("a", [1])], 1)


def test_advice_is_for_a_game_of_its_length() -> None:
    with pytest.raises(ValueError, match="advice for 2 steps, expected 6"):
        Game(LOOP_AND_CHAIN).advised(advice([("a", [0, 0])], 2))
