"""The network: its sizes, and what it does not depend on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from muzero_cases import TINY, drawn, network

from hybridalloc.agents.muzero.config import CPU, GPU, NetworkConfig
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.perception import Seen
from hybridalloc.game.observation import ObservationConfig

CLOSE = 1e-4
"""How far off the same may be, computed in another order."""


@pytest.mark.parametrize("config", [TINY, CPU, GPU])
def test_all_that_comes_out_has_the_sizes_of_the_configuration(
    config: NetworkConfig,
) -> None:
    made, actions = network(config=config), torch.tensor([0, 2, 1])
    with torch.inference_mode():
        state = made.represent(drawn(0, 3, config))
        after, rewards = made.dynamics(state, actions)
        policy, trust, values = made.predict(after)
    assert state.shape == after.shape == (3, config.width)
    assert rewards.shape == (3, config.reward.bins)
    assert policy.shape == (3, config.actions)
    assert trust.shape == (3,)
    assert values.shape == (3, config.value.bins)


def test_the_preset_for_the_cpu_has_at_most_half_a_million_parameters() -> None:
    assert Network(CPU).parameter_count <= 500_000


def test_before_anything_is_learned_policies_are_uniform_and_values_nothing() -> None:
    torch.manual_seed(0)
    made = Network(TINY)
    after, rewards = made.dynamics(made.represent(drawn(1, 4)), torch.arange(4) % 3)
    policy, _, values = made.predict(after)
    assert not policy.any()
    assert made.values.decode(values).abs().max() < CLOSE
    assert made.rewards.decode(rewards).abs().max() < CLOSE


def test_the_same_seed_makes_the_same_network() -> None:
    seen = drawn(2, 3)
    one, same, other = (
        made.predict(made.represent(seen)).value_logits
        for made in map(network, (5, 5, 6))
    )
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_hidden_states_are_within_0_and_1() -> None:
    made = network()
    with torch.inference_mode():
        state = made.represent(drawn(3, 8))
        after, _ = made.dynamics(state, torch.arange(8) % 3)
    for x in (state, after):
        assert float(x.min()) == 0
        assert 0.99 < float(x.max()) <= 1


def test_every_action_leads_elsewhere() -> None:
    made = network()
    state = made.represent(drawn(3, 1)).expand(3, -1)
    after, _ = made.dynamics(state, torch.arange(3))
    assert len({tuple(x.tolist()) for x in after}) == 3


@pytest.mark.parametrize("part", Seen._fields)
def test_all_that_is_seen_counts(part: str) -> None:
    made, seen = network(), drawn(4, 1)
    changed = getattr(seen, part).clone()
    changed.view(-1)[-1] += 0.5
    states = made.represent(seen), made.represent(seen._replace(**{part: changed}))
    assert not torch.allclose(*states, atol=CLOSE)


def test_what_comes_after_the_end_does_not_count() -> None:
    """Only the present access is there; what the others hold is not looked at."""
    made, seen = network(), drawn(4, 1)
    seen.tokens[:, 1:, 0] = 0
    tokens = seen.tokens.clone()
    tokens[:, 1:, 1:] += 1
    states = made.represent(seen), made.represent(seen._replace(tokens=tokens))
    assert torch.equal(*states)


def test_the_end_can_be_looked_at() -> None:
    seen = Seen(*(torch.zeros_like(x) for x in drawn(0, 2)))
    assert network().represent(seen).isfinite().all()


def test_a_position_is_judged_by_itself_whatever_is_judged_with_it() -> None:
    made, seen = network(), drawn(5, 7)
    together = made.represent(seen)
    for k in range(7):
        alone = made.represent(Seen(*(x[k : k + 1] for x in seen)))
        assert torch.allclose(alone[0], together[k], atol=CLOSE)


def test_the_configuration_is_found_again_in_its_text() -> None:
    for config in (TINY, CPU, GPU):
        text = json.dumps(config.as_dict())
        assert NetworkConfig.from_dict(json.loads(text)) == config


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"width": 0}, "network: width 0 is not at least 1"),
        ({"dynamics_blocks": -1}, "network: dynamics_blocks -1 is not at least 0"),
        ({"heads": 3}, "network: token_width 8 cannot be parted among 3 heads"),
        ({"patch": 3}, "network: 8 spans cannot be parted in patches of 3"),
        ({"observation": ObservationConfig(rows=9)}, "network: 9 rows cannot"),
    ],
)
def test_impossible_sizes_are_refused(sizes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(TINY, **sizes)


@pytest.mark.parametrize(
    "module", ["hybridalloc.agents", "hybridalloc.agents.muzero.config"]
)
def test_importing_the_agents_does_not_load_torch(module: str) -> None:
    code = f"import {module}, sys; print('torch' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "False\n"
