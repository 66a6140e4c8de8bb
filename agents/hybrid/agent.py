"""The strategy ``agent-hybrid``: the agent, with heuristics as options and priors."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hybridalloc.agents.muzero.adapting import adapted
from hybridalloc.agents.muzero.best_game import Team, best_game, draws
from hybridalloc.agents.muzero.deciding import Decider, PolicyDecider, SearchDecider
from hybridalloc.agents.muzero.models import LearnedModel
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.search import MOST_SIMULATIONS, SearchConfig
from hybridalloc.agents.muzero.strategy import network_of
from hybridalloc.game import Game
from hybridalloc.game.heuristics import USUAL, Heuristic, consult, names_in
from hybridalloc.problem import Problem
from hybridalloc.ranges import require_within
from hybridalloc.solver import Outcome, Run


@dataclass(frozen=True, slots=True)
class AgentHybridConfig:
    """Whom the agent may follow, and how it plays."""

    heuristics: str = "+".join(USUAL)
    """Whom it may follow: strategies and `relaxation`, with a plus between them."""
    options: bool = True
    """Whether heuristics may be followed, and not only vote in the policy."""
    prior: float | None = None
    """The weight of the heuristics' votes in the policy: 1 plays them alone, 0 the
    network alone; by default the network says how far it trusts them."""
    weights: str = ""
    """A file that `train` wrote; by default the weights that come with the package."""
    batch: int = 32
    """Games side by side."""
    simulations: int = 0
    """Steps tried in the tree before a decision; 0 plays the policy without search."""
    sure: float = 0.9
    """From which probability of an action on there is no search."""
    own: tuple[Heuristic, ...] = ()
    """Further heuristics: functions of the game, whose names are theirs."""

    def __post_init__(self) -> None:
        names_in(self.heuristics)
        require_within("batch", self.batch, 1)
        require_within("simulations", self.simulations, 0, MOST_SIMULATIONS)
        require_within("sure", self.sure, 0, 1)
        if self.prior is not None:
            require_within("prior", self.prior, 0, 1)


class AgentHybrid:
    """Plays the game in which heuristics may be followed; keeps the best map.

    First it asks the heuristics, then each is followed through a whole game. The
    policy of all other games is mixed with their votes. An iteration is one game. A
    warm start is played back first.
    """

    def __init__(self, config: AgentHybridConfig | None = None) -> None:
        self.config = config or AgentHybridConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Play games side by side until the run is over."""
        config, known = self.config, network_of(self.config.weights)

        def team(game: Game) -> Team:
            advice = consult(game, names_in(config.heuristics), config.own, run)
            advice = replace(advice, may_be_followed=config.options)
            network = adapted(known, advice.names)
            decider = self._decider(network, run.seed)
            return Team(game.advised(advice), network, decider)

        return best_game(problem, run, config.batch, team)

    def _decider(self, network: Network, seed: int) -> Decider:
        config, random = self.config, draws(seed)
        if config.simulations == 0:
            return PolicyDecider(network, random, config.prior)
        return SearchDecider(
            LearnedModel(network, config.prior),
            SearchConfig(config.simulations),
            random,
            sure=config.sure,
        )
