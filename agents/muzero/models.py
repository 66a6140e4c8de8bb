"""What the search plans with: the network's own model, or the game itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

import numpy as np
import torch
from torch import Tensor

from hybridalloc.agents.muzero.model import Bools, Evaluation, Expansion
from hybridalloc.agents.muzero.network import Network, Prediction
from hybridalloc.agents.muzero.observing import Observations, Observing
from hybridalloc.agents.muzero.perception import Seen
from hybridalloc.agents.muzero.prior import LEAST_LOGIT, mixed, trust_of, votes_at
from hybridalloc.arrays import Floats, Ints
from hybridalloc.game import Action
from hybridalloc.game.fast import FastGame, Position


class ModelKind(StrEnum):
    """What the search plans with."""

    LEARNED = "learned"
    """The network's own model, as in MuZero."""
    GAME = "game"
    """The game itself: slower and exact."""


class Evaluator:
    """What the network says of positions, with the heuristics' votes in its policy."""

    def __init__(self, network: Network, prior: float | None) -> None:
        """Take what evaluates.

        Args:
            network: Is read only; in the mode for evaluation.
            prior: The weight of the votes; by default the network's trust.
        """
        self._network = network
        self._trust = None if prior is None else trust_of(prior)

    def evaluate(
        self, positions: Sequence[Position], observations: Observations
    ) -> Evaluation:
        """Evaluate K positions, K > 0, by their observations."""
        seen = Seen.of(observations, self._network.device)
        prediction = self._network.predict(self._network.represent(seen))
        games, steps = [x.game for x in positions], [x.step for x in positions]
        return self.evaluation(prediction, masks_of(positions), games, steps)

    def evaluation(
        self,
        prediction: Prediction,
        masks: Bools,
        games: Sequence[FastGame],
        steps: Sequence[int],
    ) -> Evaluation:
        """What a prediction amounts to.

        Args:
            prediction: Of K positions.
            masks: (K, A): which actions are legal.
            games: (K,)
            steps: (K,): of the games.
        """
        logits, trust = prediction.policy_logits, prediction.trust_logits
        if self._network.config.observation.heuristics:
            if self._trust is not None:
                trust = torch.full_like(trust, self._trust)
            votes = torch.from_numpy(votes_at(games, steps, masks)).to(logits.device)
            illegal = torch.from_numpy(~masks).to(logits.device)
            logits = mixed(logits.masked_fill(illegal, LEAST_LOGIT), votes, trust)
        values = self._network.values.decode(prediction.value_logits)
        return Evaluation(_numbers(logits), _numbers(values), masks)


class LearnedModel:
    """The learned model, as in MuZero: only roots are observed.

    Below them every action is allowed, options where heuristics may be followed, and
    nothing is the end; the network is to have learned that what is not legal is not to
    be taken, and that after the end nothing is earned.
    """

    def __init__(self, network: Network, prior: float | None = None) -> None:
        """Take what plays.

        Args:
            network: Is read only; put it into the mode for evaluation before.
            prior: The weight of the heuristics' votes; by default the network's trust.
        """
        self._evaluator = Evaluator(network, prior)
        self._network = network
        self._states = torch.empty(0)
        self._games: list[FastGame] = []
        self._steps = np.empty((0, 0), np.int64)

    @torch.inference_mode()
    def begin(
        self,
        positions: Sequence[Position],
        observations: Observations,
        simulations: int,
    ) -> Evaluation:
        """Evaluate the roots, the nodes 0.

        Args:
            positions: (B,)
            observations: Of them.
            simulations: How many nodes each game will have besides.
        """
        roots = self._network.represent(Seen.of(observations, self._network.device))
        shape = len(positions), simulations + 1, roots.shape[1]
        self._states = torch.empty(shape, device=roots.device)
        self._states[:, 0] = roots
        self._games = [x.game for x in positions]
        self._steps = np.empty((len(positions), simulations + 1), np.int64)
        self._steps[:, 0] = steps = [x.step for x in positions]
        prediction, masks = self._network.predict(roots), masks_of(positions)
        return self._evaluator.evaluation(prediction, masks, self._games, steps)

    @torch.inference_mode()
    def expand(
        self, games: Ints, parents: Ints, actions: Ints, nodes: Ints
    ) -> Expansion:
        """Imagine what follows an action in each of K nodes.

        Args:
            games: (K,): which game each is in.
            parents: (K,): the nodes there that the actions are taken in.
            actions: (K,)
            nodes: (K,): the new nodes.
        """
        device = self._network.device
        at = [torch.tensor(x, device=device) for x in (games, parents, actions, nodes)]
        before = self._states[at[0], at[1]]
        state, reward_logits = self._network.dynamics(before, at[2])
        self._states[at[0], at[3]] = state
        count, prediction = len(games), self._network.predict(state)
        playing = [self._games[i] for i in games.tolist()]
        steps = self._steps[games, parents].tolist()
        each = zip(playing, steps, actions.tolist(), strict=True)
        after = [_step_after(*x) for x in each]
        self._steps[games, nodes] = after
        return Expansion(
            rewards=_numbers(self._network.rewards.decode(reward_logits)),
            terminal=np.zeros(count, np.bool_),
            evaluation=self._evaluator.evaluation(
                prediction, self._allowed(playing), playing, after
            ),
        )

    def _allowed(self, games: Sequence[FastGame]) -> Bools:
        """(K, A): the three actions, and options of advice that may be followed."""
        allowed = np.ones((len(games), self._network.config.actions), np.bool_)
        allowed[:, len(Action) :] = [[x.game.advice.may_be_followed] for x in games]
        return allowed


class GameModel:
    """The game itself: nodes are positions, rewards, masks and ends are exact.

    A decision that leads to a dead end is followed by Drop-backup, so its node may have
    more steps to come than its parent.
    """

    def __init__(
        self,
        network: Network,
        observing: Observing,
        scales_s: Mapping[FastGame, float],
        prior: float | None = None,
    ) -> None:
        """Take what evaluates positions.

        Args:
            network: Is read only; put it into the mode for evaluation before.
            observing: Observes them; of the sizes that the network is for.
            scales_s: For each game, the seconds that a return of 1 stands for.
            prior: The weight of the heuristics' votes; by default the network's trust.
        """
        self._evaluator, self._observing = Evaluator(network, prior), observing
        self._scales_s = scales_s
        self._nodes: list[dict[int, Position]] = []
        self._spare: dict[FastGame, list[Position]] = {}
        self._room = Observations.empty(0, observing.config)

    @torch.inference_mode()
    def begin(
        self,
        positions: Sequence[Position],
        observations: Observations,
        simulations: int,
    ) -> Evaluation:
        """Evaluate the roots, the nodes 0.

        Args:
            positions: (B,): they are not played on until the next call.
            observations: Of them.
            simulations: How many nodes each game will have besides.
        """
        for nodes in self._nodes:
            self._spare[nodes.pop(0).game].extend(nodes.values())
        self._spare = {x.game: self._spare.get(x.game, []) for x in positions}
        self._nodes = [{0: x} for x in positions]
        return self._evaluator.evaluate(positions, observations)

    @torch.inference_mode()
    def expand(
        self, games: Ints, parents: Ints, actions: Ints, nodes: Ints
    ) -> Expansion:
        """Take an action in each of K nodes.

        Args:
            games: (K,): which game each is in.
            parents: (K,): the nodes there that the actions are taken in.
            actions: (K,): legal ones.
            nodes: (K,): the new nodes.

        Raises:
            ValueError: An action is not legal.
        """
        made, rewards = [], np.zeros(len(games))
        each = zip(*(x.tolist() for x in (games, parents, actions, nodes)), strict=True)
        for k, (game, parent, action, node) in enumerate(each):
            position = self._copy(self._nodes[game][parent])
            self._nodes[game][node] = position
            rewards[k] = position.apply(action) / self._scales_s[position.game]
            made.append(position)
        terminal = np.array([x.is_terminal for x in made], np.bool_)
        evaluation = self._evaluator.evaluate(made, self._observe(made))
        evaluation.values[terminal] = 0.0
        return Expansion(rewards, terminal, evaluation)

    def _copy(self, position: Position) -> Position:
        """A copy, in the place of one that is no longer needed if there is any."""
        spare = self._spare[position.game]
        if not spare:
            return position.copy()
        position.copy_to(spare[-1])
        return spare.pop()

    def _observe(self, positions: Sequence[Position]) -> Observations:
        """In the same arrays each time."""
        if len(positions) > len(self._room.summary):
            self._room = Observations.empty(len(positions), self._observing.config)
        observations = self._room.first(len(positions))
        self._observing.observe_into(positions, observations)
        return observations


def masks_of(positions: Sequence[Position]) -> Bools:
    """(B, A): which actions are legal in each; none where a game has ended."""
    masks = np.empty((len(positions), positions[0].game.actions), np.bool_)
    for mask, position in zip(masks, positions, strict=True):
        mask[:] = position.mask()
    return masks


def _step_after(game: FastGame, step: int, action: int) -> int:
    """The step that follows an action, if nothing is undone; at most the end."""
    if step == len(game.game.steps):
        return step
    option = game.game.advice.option_of(action)
    if option is None or not option.until_next:
        return step + 1
    return int(game.game.until[step])


def _numbers(values: Tensor) -> Floats:
    found: Floats = values.double().cpu().numpy()
    return found
