"""Playing with a network, in batches: with search, without, and as strategies."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from muzero_cases import TINY

from hybridalloc import MemoryMap, Problem, Run, solve
from hybridalloc.agents.muzero.checkpoint import save_network
from hybridalloc.agents.muzero.deciding import Decider, PolicyDecider, SearchDecider
from hybridalloc.agents.muzero.learner import Learner
from hybridalloc.agents.muzero.model import Expansion
from hybridalloc.agents.muzero.models import GameModel, LearnedModel, ModelKind
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.play import play
from hybridalloc.agents.muzero.programs import (
    BOUND_S,
    Entry,
    bound_time_s,
    prepare,
)
from hybridalloc.agents.muzero.search import SearchConfig
from hybridalloc.agents.muzero.strategy import (
    MuZero,
    MuZeroConfig,
    Policy,
    PolicyConfig,
)
from hybridalloc.bounds import Bound, lower_bound
from hybridalloc.checker import check
from hybridalloc.io.read import read_problem
from hybridalloc.simulator import Simulator


@pytest.fixture(scope="module")
def problem(bundled: Path) -> Problem:
    return read_problem(bundled / "mixer_block_b128")


@pytest.fixture(scope="module")
def entry(problem: Problem) -> Entry:
    return prepare(problem, bound_s=0.5 * Simulator(problem).slow_s)


@pytest.fixture(scope="module")
def network() -> Network:
    torch.manual_seed(0)
    return Network(TINY).eval()


@pytest.fixture(scope="module")
def weights(network: Network, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("weights") / "weights.pt"
    save_network(network, path)
    return str(path)


def searching(network: Network, entry: Entry, kind: ModelKind) -> Decider:
    model = LearnedModel(network)
    game = GameModel(network, Observing(TINY.observation), {entry.game: entry.scale_s})
    return SearchDecider(
        model if kind is ModelKind.LEARNED else game,
        SearchConfig(simulations=3),
        np.random.default_rng(0),
    )


@pytest.mark.parametrize("kind", list(ModelKind))
def test_a_trajectory_is_the_game_that_was_played(
    network: Network, entry: Entry, kind: ModelKind
) -> None:
    decider = searching(network, entry, kind)
    observing = Observing(TINY.observation)
    for found in play([entry], [0, 0], decider, observing, temperature=1.0):
        assert found.rewards.sum() == pytest.approx(entry.value(found.time_s), abs=1e-5)
        assert found.masks[np.arange(len(found.actions)), found.actions].all()
        assert np.allclose(found.policies.sum(axis=1), 1, atol=1e-5)
        assert (found.policies[~found.masks] == 0).all()
        assert len(found.observations.summary) == len(found.actions)
        again = entry.game.begin()
        again.replay(found.actions.astype(np.int64))
        assert again.is_terminal
        assert again.time_s == found.time_s


def test_where_the_policy_is_sure_there_is_no_search(
    network: Network, entry: Entry
) -> None:
    class Never(LearnedModel):
        """A model that must not be searched."""

        def expand(self, *_: object) -> Expansion:
            raise AssertionError("searched")

    decider = SearchDecider(
        Never(network),
        SearchConfig(simulations=3),
        np.random.default_rng(0),
        sure=0.0,
    )
    observing = Observing(TINY.observation)
    assert play([entry], [0], decider, observing, temperature=1.0)


def test_without_temperature_the_likeliest_action_is_played(
    network: Network, entry: Entry
) -> None:
    decider = PolicyDecider(network, np.random.default_rng(0))
    observing = Observing(TINY.observation)
    one, other = play([entry], [0, 0], decider, observing, temperature=0.0)
    assert one.actions.tolist() == other.actions.tolist()
    likeliest = one.policies.argmax(axis=1)
    assert likeliest.tolist() == one.actions.tolist()


@pytest.mark.parametrize("model", ["learned", "game"])
def test_the_agent_answers_with_a_valid_map_by_its_seed(
    problem: Problem, weights: str, model: str
) -> None:
    solver = MuZero(
        MuZeroConfig(weights, batch=3, simulations=2, model=ModelKind(model))
    )
    one, again = (solve(problem, solver, iterations=40, seed=1) for _ in range(2))
    assert one.map is not None
    assert not check(problem, one.map)
    assert one.map == again.map
    assert one.time is not None
    assert one.time < Simulator(problem).slow_s


def test_the_agent_may_learn_the_program_first(problem: Problem, weights: str) -> None:
    solver = MuZero(MuZeroConfig(weights, simulations=2, finetune=2))
    one, again = (solve(problem, solver, iterations=4, seed=1) for _ in range(2))
    assert one.map is not None
    assert not check(problem, one.map)
    assert one.map == again.map
    begun = time.monotonic()
    solver = MuZero(MuZeroConfig(weights, simulations=2, finetune=10**9))
    found = solve(problem, solver, time_limit=2, warm_start=one.map)
    assert time.monotonic() - begun < 20
    assert found.time is not None
    assert one.time is not None
    assert found.time <= one.time


def test_ctrl_c_while_it_learns_ends_the_search_with_the_best_map(
    problem: Problem, weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, maps = Learner.step, list[MemoryMap]()

    def pressed(*given: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return step(*given)

    monkeypatch.setattr(Learner, "step", pressed)
    solver = MuZero(MuZeroConfig(weights, simulations=2, finetune=2))
    with pytest.raises(KeyboardInterrupt):
        solver.solve(problem, Run(iterations=4, report=maps.append))
    assert len(maps) == 1
    assert not check(problem, maps[0])
    found = solve(problem, solver, iterations=4)
    assert found.map == maps[0]
    assert len(found.history) == 1


def test_a_bound_for_the_search_is_not_timed_where_games_are_counted(
    problem: Problem, weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And Ctrl-C while it is looked for ends the whole search."""
    limits_s = list[float]()

    def pressed(problem: Problem, *, time_limit: float) -> Bound:
        limits_s.append(time_limit)
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return lower_bound(problem, time_limit=0.0)

    monkeypatch.setattr("hybridalloc.agents.muzero.strategy.lower_bound", pressed)
    solver = MuZero(MuZeroConfig(weights, model=ModelKind.GAME))
    with pytest.raises(KeyboardInterrupt):
        solver.solve(problem, Run(iterations=4))
    assert limits_s == [0.0]
    assert bound_time_s(Run(iterations=4, deadline=time.monotonic() + 60)) == 0.0
    assert bound_time_s(Run(deadline=time.monotonic() + 60)) == pytest.approx(6, 0.1)
    assert bound_time_s(Run()) == BOUND_S


def test_a_warm_start_is_never_lost(problem: Problem, weights: str) -> None:
    assert problem.compiler_map is not None
    solver = Policy(PolicyConfig(weights, batch=2))
    start = Simulator(problem).simulate(problem.compiler_map).time_s
    found = solve(problem, solver, iterations=2, warm_start=problem.compiler_map)
    assert found.time is not None
    assert found.time <= start
    none = solve(problem, solver, time_limit=0, warm_start=MemoryMap())
    assert none.map is not None
