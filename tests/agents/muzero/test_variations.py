"""Variations: games that decide anew on a part of the best one so far."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from muzero_cases import TINY

from hybridalloc.agents.muzero.deciding import PolicyDecider
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.openings import eager
from hybridalloc.agents.muzero.programs import Entry, prepare
from hybridalloc.agents.muzero.variations import WIDEST, Variations, ends
from hybridalloc.checker import check
from hybridalloc.game.action import INSTEAD, Action
from hybridalloc.io.read import read_problem


@pytest.fixture(scope="module")
def entry(bundled: Path) -> Entry:
    return prepare(read_problem(bundled / "lstm_lm_b64_s128"), bound_s=0.0)


@pytest.fixture(scope="module")
def decider() -> PolicyDecider:
    torch.manual_seed(0)
    return PolicyDecider(Network(TINY).eval(), np.random.default_rng(0))


def variations(entry: Entry, seed: int = 0) -> Variations:
    return Variations(entry.game, np.random.default_rng(seed))


def test_who_is_eager_takes_fast_memory_wherever_that_is_legal(entry: Entry) -> None:
    end, position = eager(entry.game, lambda: False), entry.game.begin()
    assert end.is_terminal
    for taken in end.taken:
        legal = position.mask()
        assert taken == next(x for x in Action if legal[x])
        position.apply(taken)
    assert not check(entry.problem, end.memory_map())


def test_without_a_game_before_all_is_decided(entry: Entry) -> None:
    game = next(variations(entry).games())
    assert game.free.all()
    assert game.position.step == 0


def test_a_variation_is_the_best_game_but_for_a_few_steps_in_a_row(
    entry: Entry,
) -> None:
    found, best = variations(entry), eager(entry.game, lambda: False)
    assert found.offer(best)
    games = [x for x in islice(found.games(), 80) if 0 < x.free.mean() < 1]
    assert len(games) > 40
    assert len({int(x.free.argmax()) for x in games}) > 20
    for game in games:
        assert (game.line == best.line).all()
        free = np.flatnonzero(game.free)
        assert 1 <= len(free) <= WIDEST
        assert len(free) == free[-1] - free[0] + 1
        assert game.position.step == free[0]
        assert game.position.taken == best.taken[: free[0]]


def test_a_variation_begins_with_another_action_and_goes_on_as_it_was(
    entry: Entry,
) -> None:
    found, best = variations(entry), eager(entry.game, lambda: False)
    found.offer(best)
    for game in islice(found.games(), 40):
        first, position = int(game.free.argmax()), game.position
        if not 0 < game.free.mean() < 1:
            continue
        others = position.mask().sum() > 1
        while not position.is_terminal:
            game.apply(
                next(x for x in INSTEAD[best.line[position.step]] if position.mask()[x])
            )
            while game.is_following:
                game.follow()
        assert (position.line[first] != best.line[first]) == others
        if not others:
            assert position.time_s == best.time_s


def test_a_favoured_buffer_is_in_fast_memory_and_large_ones_give_way(
    entry: Entry,
) -> None:
    found, slow = variations(entry), entry.game.begin()
    while not slow.is_terminal:
        slow.apply(Action.DROP if slow.mask()[Action.DROP] else Action.NO_COPY)
    found.offer(slow)
    favoured = [x for x in islice(found.games(), 100) if not x.free.any()]
    assert len(favoured) > 15
    buffers = np.array([x.buffer for x in entry.game.game.steps])
    for game in favoured:
        changed = np.flatnonzero(game.line != slow.line)
        assert len(set(buffers[changed].tolist())) == 1
        assert game.position.step <= changed[0]
        assert game.position.taken == slow.taken[: game.position.step]


def test_a_game_that_has_fallen_behind_is_given_up(
    entry: Entry, decider: PolicyDecider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hybridalloc.agents.muzero.variations.AT_A_TIME", 1)
    found, best = variations(entry), eager(entry.game, lambda: False)
    found.offer(best)
    games, observing = islice(found.games(), 60), Observing(TINY.observation)
    ended = list(ends(games, 4, decider, observing, lambda: False))
    assert 0 < len(ended) < 50


def test_the_pace_is_what_the_program_takes_after_each_step(entry: Entry) -> None:
    best, position = eager(entry.game, lambda: False), entry.game.begin()
    for seconds, action in zip(
        entry.game.begin().replay(best.line), best.taken, strict=True
    ):
        position.apply(action)
        assert position.time_s == seconds


def test_games_end_in_valid_maps_of_their_time(
    entry: Entry, decider: PolicyDecider
) -> None:
    found, observing = variations(entry), Observing(TINY.observation)
    games = islice(found.games(), 30)
    count, best_s = 0, np.inf
    for end in ends(games, 4, decider, observing, lambda: False):
        count += 1
        assert end.is_terminal
        assert not check(entry.problem, end.memory_map())
        assert found.offer(end) == (end.time_s < best_s)
        best_s = min(best_s, end.time_s)
    assert 1 < count <= 30


def test_games_that_are_given_up_have_no_end(
    entry: Entry, decider: PolicyDecider
) -> None:
    games, observing = variations(entry).games(), Observing(TINY.observation)
    assert list(ends(games, 2, decider, observing, lambda: True)) == []
    asked = iter([False] * 5 + [True] * 100)
    assert list(ends(games, 2, decider, observing, lambda: next(asked))) == []
