"""The strategies ``muzero`` and ``policy``: the agent, with search and without."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
import torch

from hybridalloc.agents.muzero.checkpoint import load_network
from hybridalloc.agents.muzero.deciding import Decider, PolicyDecider, SearchDecider
from hybridalloc.agents.muzero.model import Model
from hybridalloc.agents.muzero.models import GameModel, LearnedModel
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.play import ends, resumed
from hybridalloc.agents.muzero.programs import BOUND_S, EXTENDED, scale_s
from hybridalloc.agents.muzero.search import SearchConfig
from hybridalloc.bounds import lower_bound
from hybridalloc.game import Game
from hybridalloc.game.best import BestMap
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.fixing import fixed
from hybridalloc.game.listing import listing_s
from hybridalloc.game.playback import playback
from hybridalloc.problem import Problem
from hybridalloc.ranges import require_within
from hybridalloc.simulator import Simulator
from hybridalloc.solver import UNANSWERED, Outcome, Run

SHIPPED = Path(__file__).with_name("weights.pt")
"""The weights that come with the package."""
EPISODES = 256
"""Games where neither a deadline nor their number is given."""
FEWEST, GROWTH = 2, 4
"""Games in the first batch, and by how many times the next ones are larger."""
FRESH = 4
"""One in so many games begins at the beginning; others go on from within the best."""
BOUND_SHARE = 0.1
"""The share of the time that the bound may take which the game as a model needs."""


class ModelKind(StrEnum):
    """What the search plans with."""

    LEARNED = "learned"
    """The network's own model, as in MuZero."""
    GAME = "game"
    """The game itself: slower and exact."""


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """How the network's policy is played."""

    weights: str = ""
    """A file that `train` wrote; by default the weights that come with the package."""
    batch: int = 32
    """Games side by side."""
    temperature: float = 0.5
    """Of the policy: 1 draws as it is, 0 plays what is likeliest."""

    def __post_init__(self) -> None:
        require_within("batch", self.batch, 1)
        require_within("temperature", self.temperature, 0)


@dataclass(frozen=True, slots=True)
class MuZeroConfig:
    """How the agent plays."""

    weights: str = ""
    """A file that `train` wrote; by default the weights that come with the package."""
    batch: int = 32
    """Games side by side."""
    temperature: float = 0.5
    """Of the policy where there is no search."""
    simulations: int = 8
    """Steps tried in the tree before a decision."""
    sure: float = 0.9
    """From which probability of an action on there is no search."""
    model: ModelKind = ModelKind.LEARNED
    """What the search plans with: `learned` or `game`."""

    def __post_init__(self) -> None:
        require_within("batch", self.batch, 1)
        require_within("temperature", self.temperature, 0)
        require_within("simulations", self.simulations, 1)
        require_within("sure", self.sure, 0, 1)
        object.__setattr__(self, "model", ModelKind(self.model))


class Policy:
    """Plays the policy of the trained network, without search, and keeps the best map.

    An iteration is one game. A warm start is played back first.
    """

    def __init__(self, config: PolicyConfig | None = None) -> None:
        self.config = config or PolicyConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Play games side by side until the run is over."""
        network = _network(self.config.weights)
        random = np.random.default_rng(run.seed)
        decider = PolicyDecider(network, self.config.temperature, random)
        return _best_game(problem, run, network, self.config.batch, lambda _: decider)


class MuZero:
    """Plays with Gumbel MuZero's search where the policy is unsure; keeps the best map.

    An iteration is one game. A warm start is played back first.
    """

    def __init__(self, config: MuZeroConfig | None = None) -> None:
        self.config = config or MuZeroConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Play games side by side until the run is over."""
        network = _network(self.config.weights)
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
                temperature=self.config.temperature,
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
    if run.warm_start is not None:
        best.offer(playback(game, run.warm_start))
    observing = Observing(network.config.observation)
    start = _Starts(game, np.random.default_rng(run.seed))
    with _threads(run.workers):
        decider = decider_of(game)
        for count in _batches(run, batch):
            positions = [start.position(i) for i in range(count)]
            for end in ends(positions, decider, observing, lambda: run.expired):
                best.offer(end)
                start.offer(end)
            if run.expired or run.is_met(best.seconds):
                break
    return Outcome(best.map)


class _Starts:
    """Where games begin: one in four at the beginning, others within the best game.

    From some step of the best game so far on, it is played anew.
    """

    def __init__(self, game: FastGame, random: np.random.Generator) -> None:
        self._game, self._random = game, random
        self._best_s, self._taken = math.inf, list[int]()

    def offer(self, end: Position) -> None:
        """Take note of a game if it is the best so far."""
        if end.time_s < self._best_s:
            self._best_s, self._taken = end.time_s, [int(x) for x in end.taken]

    def position(self, number: int) -> Position:
        """Where the game of this number in a batch begins."""
        if not self._taken or number % FRESH == 0:
            return self._game.begin()
        steps = int(self._random.integers(len(self._taken)))
        return resumed(self._game, self._taken, steps)


def _batches(run: Run, batch: int) -> Iterator[int]:
    """How many games to play side by side, again and again: few at first.

    So that on a long program there is an answer soon.
    """
    left: float = math.inf
    if run.iterations is not None:
        left = run.iterations
    elif run.deadline == math.inf:
        left = EPISODES
    count = FEWEST
    while left > 0:
        count = int(min(count, batch, left))
        yield count
        left -= count
        count *= GROWTH


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
