"""Who plays while the agent is trained: with noise to explore, without to be judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hybridalloc.agents.muzero.deciding import Decider, Decision, SearchDecider
from hybridalloc.agents.muzero.model import Model
from hybridalloc.agents.muzero.models import GameModel, LearnedModel, ModelKind
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.observing import Observations, Observing
from hybridalloc.agents.muzero.programs import Entry
from hybridalloc.agents.muzero.training_config import TrainConfig
from hybridalloc.arrays import Floats
from hybridalloc.game.fast import Position


class Players:
    """Makes players of a network."""

    def __init__(
        self, network: Network, entries: Sequence[Entry], config: TrainConfig
    ) -> None:
        """Take what plays.

        Args:
            network: It is looked at whenever a player decides.
            entries: All programs that are played.
            config: Of the search.
        """
        self.observing = Observing(network.config.observation)
        """What observes for them."""
        self._network, self._config = network, config
        self._scales_s = {x.game: x.scale_s for x in entries}

    def explorer(self, random: np.random.Generator) -> Decider:
        """A player for games to learn from."""
        config, model = self._config, self._model()
        return SearchDecider(model, config.search, random, sure=config.sure)

    def judge(self) -> Decider:
        """A player who searches wherever there is a choice."""
        random = np.random.default_rng(0)
        return SearchDecider(self._model(), self._config.search, random)

    def _model(self) -> Model:
        if self._config.model is ModelKind.LEARNED:
            return LearnedModel(self._network)
        return GameModel(self._network, self.observing, self._scales_s)


class Hurried:
    """A player who gives up when the time is over."""

    def __init__(self, decider: Decider, is_over: Callable[[], bool]) -> None:
        """Take who plays.

        Args:
            decider: Decides.
            is_over: Is asked before each decision.
        """
        self._decider, self._is_over = decider, is_over

    def decide(
        self,
        positions: Sequence[Position],
        observations: Observations,
        temperatures: Floats,
    ) -> Decision:
        """What the player decides.

        Raises:
            TimeoutError: The time is over.
        """
        if self._is_over():
            raise TimeoutError
        return self._decider.decide(positions, observations, temperatures)
