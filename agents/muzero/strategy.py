"""The strategies ``muzero`` and ``policy``: the agent, with search and without."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from hybridalloc.agents.muzero.adapting import adapted
from hybridalloc.agents.muzero.best_game import Team, best_game, draws
from hybridalloc.agents.muzero.checkpoint import load_network
from hybridalloc.agents.muzero.deciding import PolicyDecider, SearchDecider
from hybridalloc.agents.muzero.finetuning import finetuned
from hybridalloc.agents.muzero.model import Model
from hybridalloc.agents.muzero.models import GameModel, LearnedModel, ModelKind
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.programs import bound_time_s, scale_s
from hybridalloc.agents.muzero.search import MOST_SIMULATIONS, SearchConfig
from hybridalloc.bounds import lower_bound
from hybridalloc.game.fast import FastGame
from hybridalloc.game.listing import listing_s
from hybridalloc.interruption import Interruption
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.ranges import require_within
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Outcome, Run

SHIPPED = Path(__file__).with_name("weights.pt")
"""The weights that come with the package."""


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
        require_within("simulations", self.simulations, 1, MOST_SIMULATIONS)
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
        network = plain_network_of(self.config.weights)
        random = draws(run.seed)
        decider = PolicyDecider(network, random)
        batch = self.config.batch
        return best_game(problem, run, batch, lambda game: Team(game, network, decider))


class MuZero:
    """Plays with Gumbel MuZero's search where the policy is unsure; keeps the best map.

    An iteration is one game, whole or a variation of the best. A warm start is played
    back first.
    """

    def __init__(self, config: MuZeroConfig | None = None) -> None:
        self.config = config or MuZeroConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Play games side by side until the run is over."""
        network = plain_network_of(self.config.weights)
        if self.config.finetune and listing_s(problem) < run.remaining_s:
            network, known = finetuned(problem, run, network, self.config.finetune)
            run = _starting(problem, run, known)
        model: Model = LearnedModel(network)
        if self.config.model is ModelKind.GAME:
            observing = Observing(network.config.observation)
            model = GameModel(network, observing, _Scales(problem, run))
        search, random = SearchConfig(self.config.simulations), draws(run.seed)
        decider = SearchDecider(model, search, random, sure=self.config.sure)
        batch = self.config.batch
        return best_game(problem, run, batch, lambda game: Team(game, network, decider))


class _Scales(dict[FastGame, float]):
    """What a return of 1 stands for in a game, in seconds.

    The bound that this takes is looked for when it is asked for: games that need no
    search come before.
    """

    def __init__(self, problem: Problem, run: Run) -> None:
        super().__init__()
        self._problem, self._run = problem, run

    def __missing__(self, game: FastGame) -> float:
        self[game] = scale_s(game, _bound_s(self._problem, self._run))
        return self[game]


def _starting(problem: Problem, run: Run, known: MemoryMap | None) -> Run:
    """The run with the better of its warm start and another map that is known."""
    maps = [x for x in (run.warm_start, known) if x is not None]
    simulator = Simulator(problem)
    best = min(maps, key=lambda x: simulator.simulate(x).time_s, default=None)
    return replace(run, warm_start=best)


def network_of(weights: str) -> Network:
    """The network in a file, or else the one that comes with the package."""
    return load_network(Path(weights) if weights else SHIPPED)


def plain_network_of(weights: str) -> Network:
    """The same, as it plays without heuristics."""
    return adapted(network_of(weights), ())


def _bound_s(problem: Problem, run: Run) -> float:
    """Seconds that no map beats: as others have proven, or a bound of its own."""
    if run.bound:
        return run.bound
    with Interruption() as interruption:
        bound = lower_bound(problem, time_limit=bound_time_s(run))
    if interruption.happened:
        raise KeyboardInterrupt
    return bound.seconds
