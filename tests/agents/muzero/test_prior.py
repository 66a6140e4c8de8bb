"""Priors: votes of heuristics in the policy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from muzero_cases import COARSE, TINY, network
from named_problems import NAMED
from torch import Tensor

from hybridalloc.agents.muzero.config import NetworkConfig
from hybridalloc.agents.muzero.deciding import PolicyDecider, SearchDecider
from hybridalloc.agents.muzero.model import Expansion, Model
from hybridalloc.agents.muzero.models import GameModel, LearnedModel
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.perception import Seen
from hybridalloc.agents.muzero.prior import LEAST_LOGIT, mixed, trust_of, votes_at
from hybridalloc.agents.muzero.search import SearchConfig
from hybridalloc.arrays import Ints
from hybridalloc.game import Action, Game, advice
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.observation import ObservationConfig

LOOPING = NAMED["a value carried by a loop"]
STAY, COPY, DROP = Action
OBSERVED = ObservationConfig(past=2, future=6, rows=8, tokens=5, heuristics=("h",))
SIZES = NetworkConfig(
    observation=OBSERVED, width=16, patch=2, channels=4, token_width=8, heads=2
)


def advised(game: Game, line: list[int]) -> FastGame:
    """The game in which one heuristic may be followed."""
    return FastGame(game.advised(advice([("h", line)], len(game.steps))))


def followed(game: FastGame) -> Position:
    """The end of the game that follows the heuristic wherever it may."""
    position, line = game.begin(), game.game.advice.lines[0]
    position.follow(line, np.zeros(line.size, np.bool_), line.size * line.size)
    return position


def decided(game: FastGame, decider: PolicyDecider | SearchDecider) -> Position:
    """The end of a game that somebody decides, without noise."""
    position, observing = game.begin(), Observing(OBSERVED)
    while not position.is_terminal:
        seen = observing.observe([position])
        decision = decider.decide([position], seen, np.zeros(1))
        position.apply(int(decision.actions[0]))
    return position


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("searches", ["no", "learned", "game"])
def test_with_weight_1_the_heuristic_is_played_exactly(
    seed: int, searches: str
) -> None:
    """Wherever it may be, whatever the network says, with search and without."""
    random = np.random.default_rng(seed)
    game = Game(LOOPING)
    line = random.integers(0, 3, len(game.steps)).tolist()
    fast, made = advised(game, line), network(seed, SIZES)
    decider: PolicyDecider | SearchDecider = PolicyDecider(made, random, 1.0)
    if searches != "no":
        model: Model = LearnedModel(made, 1.0)
        if searches == "game":
            model = GameModel(made, Observing(OBSERVED), {fast: 1.0}, 1.0)
        decider = SearchDecider(model, SearchConfig(simulations=6), random)
    assert decided(fast, decider).taken == followed(fast).taken


def test_with_weight_0_the_votes_change_nothing() -> None:
    made, random = network(3, SIZES), np.random.default_rng(0)
    game = Game(LOOPING)
    one = advised(game, [DROP] * len(game.steps)).begin()
    seen = Observing(OBSERVED).observe([one])
    with torch.inference_mode():
        state = made.represent(Seen.of(seen, made.device))
        logits = made.predict(state).policy_logits
    own = logits.masked_fill(torch.tensor(~one.mask()), -torch.inf).softmax(-1).numpy()
    without, some = (
        PolicyDecider(made, random, x).decide([one], seen, np.zeros(1)).policies
        for x in (0.0, 0.5)
    )
    assert without == pytest.approx(own, abs=1e-6)
    assert some[0, DROP] == pytest.approx(0.5 + 0.5 * own[0, DROP], abs=1e-6)


def test_votes_are_mixed_in_by_their_weight() -> None:
    logits = torch.tensor([[0.0, 0.0, LEAST_LOGIT, 0.0]])
    votes, trust = torch.tensor([[0.0, 1.0, 0.0]]), torch.tensor([trust_of(0.25)])
    found = mixed(logits, votes, trust).exp()
    assert found.tolist() == [pytest.approx([0.25, 0.5, 0.0, 0.25])]
    none = mixed(logits, torch.zeros(1, 3), trust).exp()
    assert none.tolist() == [pytest.approx([1 / 3, 1 / 3, 0.0, 1 / 3])]


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.999])
def test_gradients_of_mixed_policies_are_finite(weight: float) -> None:
    logits = torch.tensor([[1.0, 0.5, LEAST_LOGIT, 0.2]], requires_grad=True)
    trust = torch.tensor([trust_of(weight)], requires_grad=True)
    votes = torch.tensor([[0.5, 0.5, 0.0]])
    target = torch.tensor([[0.3, 0.3, 0.0, 0.4]])
    loss: Tensor = -(target * mixed(logits, votes, trust)).sum()
    loss.backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    if 0 < weight < 1:
        assert trust.grad is not None
        assert trust.grad.isfinite().all()


class Watched(LearnedModel):
    """Remembers the actions that were imagined."""

    def __init__(self, network: Network) -> None:
        super().__init__(network)
        self.imagined = set[int]()

    def expand(
        self, games: Ints, parents: Ints, actions: Ints, nodes: Ints
    ) -> Expansion:
        self.imagined.update(actions.tolist())
        return super().expand(games, parents, actions, nodes)


@pytest.mark.parametrize("may_be_followed", [False, True])
def test_options_are_imagined_where_they_may_be_followed(may_be_followed: bool) -> None:
    made, game = network(0, SIZES), Game(LOOPING)
    given = advice([("h", [STAY] * len(game.steps))], len(game.steps))
    given = replace(given, may_be_followed=may_be_followed)
    model, random = Watched(made), np.random.default_rng(0)
    decider = SearchDecider(model, SearchConfig(simulations=32), random)
    decided(FastGame(game.advised(given)), decider)
    assert (max(model.imagined) >= len(Action)) == may_be_followed


def test_votes_for_what_is_illegal_go_to_others() -> None:
    game = Game(LOOPING)
    steps = len(game.steps)
    parts = [[1, 2, 1]] * steps
    fast = FastGame(game.advised(advice([("h", parts)], steps)))
    masks = np.array([[1, 0, 1], [1, 1, 1], [1, 0, 0], [0, 0, 0]], np.bool_)
    found = votes_at([fast] * 4, [0, 1, 2, steps], masks)
    assert found.tolist() == [[0.5, 0, 0.5], [0.25, 0.5, 0.25], [1, 0, 0], [0, 0, 0]]
    only = advised(game, [COPY] * steps)
    assert votes_at([only], [0], masks[:1]).tolist() == [[1, 0, 0]]


def test_a_network_without_heuristics_trusts_none() -> None:
    made = network(0, TINY)
    position = FastGame(Game(LOOPING)).begin()
    seen = Observing(COARSE).observe([position])
    roots = LearnedModel(made, 1.0).begin([position], seen, 0)
    plain = LearnedModel(made).begin([position], seen, 0)
    assert np.array_equal(roots.logits, plain.logits)
