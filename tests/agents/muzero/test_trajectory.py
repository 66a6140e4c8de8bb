"""Trajectories: what is kept of a game, and played again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from muzero_cases import network
from training_cases import entries, observing, random_game

from hybridalloc.agents.muzero.deciding import PolicyDecider
from hybridalloc.agents.muzero.demonstrations import demonstrate
from hybridalloc.agents.muzero.play import play
from hybridalloc.agents.muzero.reanalysis import reanalysed
from hybridalloc.agents.muzero.trajectory import Trajectory, load, replayed
from hybridalloc.errors import InputError
from hybridalloc.game.playback import playback
from hybridalloc.solving import solve


def same(one: Trajectory, other: Trajectory) -> bool:
    """Whether all numbers of two trajectories are the same."""
    names = ("actions", "rewards", "masks", "policies", "values")
    pairs = [(getattr(one, x), getattr(other, x)) for x in names]
    pairs += zip(one.observations, other.observations, strict=True)
    is_same = one.time_s == other.time_s and one.entry == other.entry
    return is_same and all(np.array_equal(x, y) for x, y in pairs)


def decider(seed: int = 0) -> PolicyDecider:
    return PolicyDecider(network(), np.random.default_rng(seed))


@given(st.integers(0, 1000), st.sampled_from([0, 1]))
def test_rewards_add_up_to_the_way_from_all_slow_to_the_bound(
    seed: int, index: int
) -> None:
    game, entry = random_game(index, seed), entries()[index]
    assert game.returns[0] == pytest.approx(entry.value(game.time_s), abs=1e-6)
    assert game.returns[-1] == pytest.approx(game.rewards[-1])


@given(st.integers(0, 1000), st.sampled_from([0, 1]))
def test_a_file_gives_back_the_same_game(
    tmp_path_factory: pytest.TempPathFactory, seed: int, index: int
) -> None:
    path = tmp_path_factory.mktemp("games") / "game.npz"
    game = random_game(index, seed)
    game.save(path)
    assert same(load(path, entries(), observing()), game)


def test_a_game_that_was_played_is_the_one_that_its_actions_give_again() -> None:
    for game in play(entries(), [0, 1, 0, 1], decider(), observing(), temperature=1.0):
        again = replayed(
            *(entries()[game.entry], game.entry, game.actions),
            *(game.policies, game.values, observing()),
            is_demonstration=False,
        )
        assert same(again, game)


def test_some_games_have_more_decisions_than_steps_as_drop_backup_undoes_some() -> None:
    lengths = {len(random_game(0, seed)) for seed in range(20)}
    assert max(lengths) > len(entries()[0].game.game.steps)


@pytest.mark.parametrize("kept", [0, 10, 0.5, -1])
def test_a_damaged_file_is_bad_input(tmp_path: Path, kept: float) -> None:
    path = tmp_path / "game.npz"
    random_game(0, 1).save(path)
    data = path.read_bytes()
    end = int(kept * len(data)) if 0 < kept < 1 else int(kept)
    path.write_bytes(data[:end])
    with pytest.raises(InputError, match=r"game\.npz: expected a trajectory"):
        load(path, entries(), observing())


def test_a_byte_that_is_altered_is_bad_input_or_alters_nothing(tmp_path: Path) -> None:
    path, game = tmp_path / "game.npz", random_game(0, 1)
    game.save(path)
    data, random = path.read_bytes(), np.random.default_rng(0)
    for place in random.integers(0, len(data), 300).tolist():
        bits = int(random.integers(1, 256))
        path.write_bytes(data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :])
        with suppress(InputError):
            assert same(load(path, entries(), observing()), game)


def test_a_game_of_another_program_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "game.npz"
    random_game(1, 0).save(path)
    swapped = entries()[::-1]
    with pytest.raises(InputError, match="expected a trajectory"):
        load(path, swapped, observing())
    with pytest.raises(InputError, match="program 1"):
        load(path, entries()[:1], observing())


def test_a_demonstration_plays_what_playback_plays_for_certain() -> None:
    for index, entry in enumerate(entries()):
        found = solve(entry.problem, "greedy", iterations=1).map
        assert found is not None
        shown = demonstrate(entry, index, found, observing())
        end = playback(entry.game, found)
        assert shown.is_demonstration
        assert tuple(shown.actions.tolist()) == end.taken
        assert shown.time_s == end.time_s
        rows = np.arange(len(shown))
        assert (shown.policies[rows, shown.actions] == 1).all()
        assert (shown.policies.sum(axis=1) == 1).all()
        assert shown.values == pytest.approx(shown.returns)


def test_reanalysis_says_what_the_network_of_today_says_of_each_position() -> None:
    game = random_game(0, 3)
    found = reanalysed(game, entries()[0], decider(), observing(), 0.5)
    assert same(replace(found, policies=game.policies, values=game.values), game)
    position = entries()[0].game.begin()
    for step, action in enumerate(game.actions.tolist()):
        said = decider().decide(
            [position], observing().observe([position]), np.zeros(1)
        )
        assert found.policies[step] == pytest.approx(said.policies[0], abs=1e-5)
        assert found.values[step] == pytest.approx(said.values[0], abs=1e-5)
        position.apply(action)


def test_reanalysis_takes_long_games_some_positions_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = random_game(0, 3)
    at_once = reanalysed(game, entries()[0], decider(), observing(), 0.5)
    monkeypatch.setattr("hybridalloc.agents.muzero.reanalysis.AT_A_TIME", 2)
    by_twos = reanalysed(game, entries()[0], decider(), observing(), 0.5)
    assert by_twos.values == pytest.approx(at_once.values, abs=1e-5)
