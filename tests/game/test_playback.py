"""Playback: what the game makes of a map."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean

import pytest
from game_cases import (
    DONATED_BUFFER,
    DROP,
    LOOP_AND_CHAIN,
    STAY,
    actions_of,
    chooser,
    drawn_game,
    ended,
    game_of,
    played,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from named_problems import CHAIN, FASTEST, NAMED, SLOW, W, X, problem, reads, writes
from small_problems import Sizes, small_problem
from strategies import problems

from hybridalloc import solve
from hybridalloc.checker import check
from hybridalloc.game import Game, GameConfig
from hybridalloc.game.fast import FastGame
from hybridalloc.game.playback import playback
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.problem import CostModel, Problem
from hybridalloc.simulator import simulate

BOTH = GameConfig(waits=True, shifts=True)
SIZES = Sizes(buffers=9, instructions=24, loops=5)


@pytest.fixture(scope="module")
def bundled_problems(bundled: Path) -> list[Problem]:
    """The bundled programs, under both cost models."""
    folders = sorted(x for x in bundled.iterdir() if x.is_dir())
    return [read_problem(x, cost_model=y) for x in folders for y in CostModel]


def test_a_map_of_whole_lifetimes_is_played_as_it_is() -> None:
    position = playback(FastGame(Game(CHAIN)), FASTEST)
    assert position.taken == (DROP, STAY, STAY, STAY, STAY, DROP)
    assert position.memory_map() == FASTEST


def test_the_empty_map_drops_everything() -> None:
    position = playback(FastGame(Game(CHAIN)), SLOW)
    assert position.taken == (DROP,) * 6


def test_a_prefetch_is_issued_when_the_game_would() -> None:
    """The map copies w from 0 on; the game from 1 on, where there is time as well."""
    given_one = problem(
        (X, W), (writes(0),), (), (reads(1), reads(0)), compute={0: 20.0, 1: 20.0}
    )
    early = MemoryMap((Allocation(1, 16, 0, 3, Origin.PREFETCHED, ready=2),))
    position = playback(FastGame(Game(given_one)), early)
    late = Allocation(1, 0, 1, 3, Origin.PREFETCHED, ready=2)
    assert position.memory_map().allocations == (late,)
    assert position.time_s == simulate(given_one, early).time_s


def test_what_the_game_cannot_do_it_drops() -> None:
    """The copy is waited for: the paper's game never does that, the extended may."""
    given_one = problem((X, W), (writes(0),), (reads(1),), (reads(1),))
    waiting = MemoryMap((Allocation(1, 0, 1, 3, Origin.PREFETCHED, ready=1),))
    for config, served in ((GameConfig(), 0), (BOTH, 1)):
        position = playback(FastGame(Game(given_one, config)), waiting)
        assert len(position.memory_map()) == served


@pytest.mark.parametrize("given_one", [LOOP_AND_CHAIN, DONATED_BUFFER])
def test_every_map_of_a_small_game_is_played_back_action_for_action(
    given_one: Problem,
) -> None:
    game = Game(given_one)
    fast = FastGame(game)
    for seed in range(40):
        state = ended(game, chooser(seed))
        position = playback(fast, state.memory_map())
        assert position.memory_map() == state.memory_map()


def replayed(drawn: Problem, seed: int) -> None:
    """A played game's map is played back to the same time, and so are its actions."""
    game = drawn_game(drawn)
    state = ended(game, chooser(seed))
    position = playback(FastGame(game), state.memory_map())
    assert position.time_s == pytest.approx(state.time_s, rel=1e-9)
    assert check(drawn, position.memory_map()) == ()


@settings(max_examples=150)
@given(problems(pinned=True), st.integers(0, 9999))
def test_the_map_of_a_played_game_takes_as_long_when_played_back(
    drawn: Problem, seed: int
) -> None:
    replayed(drawn, seed)


@settings(max_examples=100)
@given(st.integers(0, 99999))
def test_so_does_that_of_a_larger_program(seed: int) -> None:
    replayed(small_problem(seed, SIZES), seed)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("strategy", ["greedy", "random"])
def test_the_actions_of_a_playback_are_those_of_the_pure_game(
    name: str, strategy: str
) -> None:
    for config in (GameConfig(), BOTH):
        game = game_of(NAMED[name], waits=config.waits, shifts=config.shifts)
        for seed in range(3):
            found = solve(NAMED[name], strategy, iterations=1, seed=seed).map
            assert found is not None
            position = playback(FastGame(game), found)
            state = played(game, *position.taken)
            assert actions_of(state) == list(position.taken)
            assert state.memory_map() == position.memory_map()
            assert check(NAMED[name], position.memory_map()) == ()


def losses(
    given_ones: list[Problem], strategy: str, config: GameConfig
) -> Iterator[float]:
    """By which factor each program takes longer once its map is played back."""
    for given_one in given_ones:
        found = solve(given_one, strategy, iterations=1, seed=1)
        assert found.map is not None
        assert found.time is not None
        position = playback(FastGame(Game(given_one, config)), found.map)
        memory_map = position.memory_map()
        assert check(given_one, memory_map) == ()
        time_s = simulate(given_one, memory_map).time_s
        assert position.time_s == pytest.approx(time_s, rel=1e-9)
        yield time_s / found.time


def test_little_is_lost_of_the_maps_of_bundled_programs(
    bundled_problems: list[Problem],
) -> None:
    """By the extended game: at most an eighth, on average no fiftieth."""
    found = list(losses(bundled_problems, "greedy", BOTH))
    assert max(found) <= 1.125
    assert geometric_mean(found) <= 1.02


def test_random_maps_of_bundled_programs_gain_by_being_played_back(
    bundled_problems: list[Problem],
) -> None:
    """Copies are issued at better points, and what only costs is not done."""
    assert max(losses(bundled_problems, "random", GameConfig())) <= 1
