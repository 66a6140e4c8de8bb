"""Networks for other heuristics than those that they were trained with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from muzero_cases import TINY, network
from named_problems import NAMED

from hybridalloc.agents.muzero.adapting import adapted
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.perception import Seen
from hybridalloc.game import Game, advice
from hybridalloc.game.fast import FastGame


def knowing(*names: str) -> Network:
    """A network that knows these heuristics."""
    seen = replace(TINY.observation, heuristics=names)
    return network(4, replace(TINY, observation=seen))


def policy(made: Network, *names: str) -> list[float]:
    """What it says at the beginning of a game with these heuristics."""
    game = Game(NAMED["a value carried by a loop"])
    steps, favoured = len(game.steps), {"a": 0, "b": 2, "c": 1}
    lines = [(x, [favoured[x]] * steps) for x in names]
    game = game.advised(advice(lines, steps))
    observed = Observing(made.config.observation).observe([FastGame(game).begin()])
    with torch.inference_mode():
        state = made.represent(Seen.of(observed, made.device))
        return made.predict(state).policy_logits[0].double().tolist()


def test_a_network_is_itself_for_its_own_heuristics() -> None:
    made = knowing("a", "b")
    assert adapted(made, ("a", "b")) is made


def test_in_another_order_it_says_the_same_of_each() -> None:
    made = knowing("a", "b")
    one = policy(made, "a", "b")
    other = policy(adapted(made, ("b", "a")), "b", "a")
    assert np.allclose(other, [one[i] for i in (0, 1, 2, 4, 3, 6, 5)], atol=1e-5)


def test_an_unknown_heuristic_is_as_good_as_the_others() -> None:
    made = knowing("a", "b")
    one = policy(made, "a", "b")
    other = policy(adapted(made, ("a", "b", "c")), "a", "b", "c")
    assert np.allclose(other[:5], one[:5], atol=1e-5)
    assert np.isclose(other[5], (one[3] + one[4]) / 2, atol=1e-5)
    assert np.isclose(other[8], (one[5] + one[6]) / 2, atol=1e-5)


def test_without_heuristics_the_three_actions_are_left() -> None:
    made = knowing("a")
    plain = adapted(made, ())
    assert plain.config.actions == 3
    assert plain.trust_head is None
    blind = replace(made.config.observation, heuristics=())
    assert plain.config.observation == blind
    assert len(policy(plain)) == 3


def test_a_network_that_knows_none_can_play_with_some() -> None:
    made = adapted(network(0, TINY), ("a", "b"))
    assert policy(made, "a", "b")[3:] == [0.0] * 4
