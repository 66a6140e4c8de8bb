"""The strategies ``muzero`` and ``policy``: the agent, with search and without."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from hybridalloc.agents.muzero.checkpoint import load_network
from hybridalloc.agents.muzero.deciding import Decider, PolicyDecider, SearchDecider
from hybridalloc.agents.muzero.finetuning import finetuned
from hybridalloc.agents.muzero.model import Model
from hybridalloc.agents.muzero.models import GameModel, LearnedModel, ModelKind
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.programs import BOUND_S, BOUND_SHARE, EXTENDED, scale_s
from hybridalloc.agents.muzero.search import SearchConfig
from hybridalloc.agents.muzero.variations import Variations, eager, ends
from hybridalloc.bounds import lower_bound
from hybridalloc.game import Game
from hybridalloc.game.best import BestMap
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.fixing import fixed
from hybridalloc.game.listing import listing_s
from hybridalloc.game.playback import playback
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.ranges import require_within
from hybridalloc.simulator import Simulator
from hybridalloc.solver import UNANSWERED, Outcome, Run

SHIPPED = Path(__file__).with_name("weights.pt")
"""The weights that come with the package."""
EPISODES = 256
"""Games where neither a deadline nor their number is given."""


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """How the network's policy is played."""

    weights: str = ""
    """A file that `train` wrote; by default the weights that come with the package."""
    batch: int = 32
    """Games side by side."""

    def __post_init__(self) -> None:
        require_within("batch", self.batch, 1)


@dataclass(frozen=True, slots=True)
class MuZeroConfig:
    """How the agent plays."""

    weights: str = ""
    """A file that `train` wrote; by default the weights that come with the package."""
    batch: int = 32
    """Games side by side."""
    simulations: int = 8
    """Steps tried in the tree before a decision."""
    sure: float = 0.9
    """From which probability of an action on there is no search."""
    model: ModelKind = ModelKind.LEARNED
    """What the search plans with: `learned` or `game`."""
    finetune: int = 0
    """Steps that the network first learns this very program for, at most half of the
    time; 0 plays with the weights as they are."""

    def __post_init__(self) -> None:
        require_within("batch", self.batch, 1)
        require_within("simulations", self.simulations, 1)
        require_within("sure", self.sure, 0, 1)
        require_within("finetune", self.finetune, 0)
        object.__setattr__(self, "model", ModelKind(self.model))


class Policy:
    """Plays the policy of the trained network, without search, and keeps the best map.

    An iteration is one game, whole or a variation of the best. A warm start is played
    back first.
    """

    def __init__(self, config: PolicyConfig | None = None) -> None:
        self.config = config or PolicyConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Play games side by side until the run is over."""
        network = _network(self.config.weights)
        random = np.random.default_rng(run.seed)
        decider = PolicyDecider(network, random)
        return _best_game(problem, run, network, self.config.batch, lambda _: decider)


class MuZero:
    """Plays with Gumbel MuZero's search where the policy is unsure; keeps the best map.

    An iteration is one game, whole or a variation of the best. A warm start is played
    back first.
    """

    def __init__(self, config: MuZeroConfig | None = None) -> None:
        self.config = config or MuZeroConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Play games side by side until the run is over."""
        network = _network(self.config.weights)
        if self.config.finetune and listing_s(problem) < run.remaining_s:
            network, known = finetuned(problem, run, network, self.config.finetune)
            run = _starting(problem, run, known)
        random = np.random.default_rng(run.seed)

        def decider(game: FastGame) -> Decider:
            model: Model = LearnedModel(network)
            if self.config.model is ModelKind.GAME:
                observing = Observing(network.config.observation)
                scales_s = {game: scale_s(game, _bound_s(problem, run))}
                model = GameModel(network, observing, scales_s)
            return SearchDecider(
                network,
                model,
                SearchConfig(self.config.simulations),
                random,
                sure=self.config.sure,
            )

        return _best_game(problem, run, network, self.config.batch, decider)


def _best_game(
    problem: Problem,
    run: Run,
    network: Network,
    batch: int,
    decider_of: Callable[[FastGame], Decider],
) -> Outcome:
    """Play until the run is over, or its games are played; the best map of all."""
    try:
        pins = fixed(problem)
    except ValueError:
        return UNANSWERED
    best = BestMap(Simulator(problem), run, pins)
    if run.warm_start is not None:
        best.start_from(run.warm_start)
    if run.expired or listing_s(problem) >= run.remaining_s:
        return Outcome(best.map)
    game = FastGame(Game(problem, EXTENDED, pins))
    if not game.game.steps:
        return Outcome(best.map)
    variations = Variations(game, np.random.default_rng(run.seed))
    if run.warm_start is not None:
        played = playback(game, run.warm_start)
        best.offer(played)
        variations.offer(played)
    for end in _played(game, variations, run, network, batch, decider_of):
        best.offer(end)
        variations.offer(end)
        if run.is_met(best.seconds):
            break
    return Outcome(best.map)


def _played(
    game: FastGame,
    variations: Variations,
    run: Run,
    network: Network,
    batch: int,
    decider_of: Callable[[FastGame], Decider],
) -> Iterator[Position]:
    """The ends of games: of one that needs no network, and then of others."""
    first = eager(game, lambda: run.expired)
    if first.is_terminal:
        yield first
    most = run.iterations
    if most is None and run.deadline == math.inf:
        most = EPISODES
    observing = Observing(network.config.observation)
    with _threads(run.workers):
        yield from ends(
            islice(variations.games(), most),
            batch,
            decider_of(game),
            observing,
            lambda: run.expired,
        )


def _starting(problem: Problem, run: Run, known: MemoryMap | None) -> Run:
    """The run with the better of its warm start and another map that is known."""
    maps = [x for x in (run.warm_start, known) if x is not None]
    simulator = Simulator(problem)
    best = min(maps, key=lambda x: simulator.simulate(x).time_s, default=None)
    return replace(run, warm_start=best)


def _network(weights: str) -> Network:
    return load_network(Path(weights) if weights else SHIPPED)


def _bound_s(problem: Problem, run: Run) -> float:
    """Seconds that no map beats: as others have proven, or a bound of its own."""
    if run.bound:
        return run.bound
    limit_s = BOUND_SHARE * run.remaining_s if run.deadline < math.inf else BOUND_S
    return lower_bound(problem, time_limit=limit_s).seconds


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Within this block the network uses so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
