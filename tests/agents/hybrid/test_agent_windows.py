"""Windows where the agent is in doubt."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from named_problems import FASTEST, NAMED, PINS_THAT_DO_NOT_FIT, W, reads
from named_problems import problem as problem_of

from hybridalloc import MemoryMap, Problem, Run, solve
from hybridalloc.agents.hybrid import proposing
from hybridalloc.agents.hybrid.proposing import Doubt
from hybridalloc.agents.hybrid.windows import AgentWindows, AgentWindowsConfig
from hybridalloc.agents.muzero.checkpoint import load_network
from hybridalloc.agents.muzero.config import NetworkConfig
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.strategy import SHIPPED
from hybridalloc.compose import parse
from hybridalloc.game.observation import ObservationConfig
from hybridalloc.io.read import read_problem

COARSE = ObservationConfig(past=2, future=6, rows=8, tokens=5)
TINY = NetworkConfig(
    observation=COARSE, width=16, patch=2, channels=4, token_width=8, heads=2
)
CHAIN = NAMED["a chain"]
"""Two accesses at each of three instructions."""


def untrained() -> Network:
    """All its values are spread over all numbers alike."""
    return Network(TINY).eval()


@pytest.mark.parametrize("positions", [1, 2, 100])
def test_what_has_learned_nothing_doubts_all_accesses_alike(positions: int) -> None:
    network = untrained()
    found = Doubt(network, positions)(CHAIN, MemoryMap(), Run())
    spread = network.values.numbers.square().mean().sqrt().item()
    assert found == pytest.approx([2 * spread] * 3, rel=1e-5)


def test_an_instruction_without_accesses_has_no_doubt() -> None:
    problem = problem_of((W,), (reads(0),), (), (reads(0),))
    found = Doubt(untrained(), 8)(problem, MemoryMap(), Run())
    assert found[0] > 0
    assert found[1] == 0


def test_doubt_differs_between_the_accesses_of_a_program(bundled: Path) -> None:
    problem = read_problem(bundled / "lstm_lm_b64_s128")
    doubt = Doubt(load_network(SHIPPED), 64)
    found = doubt(problem, MemoryMap(), Run())
    assert found.min() >= 0
    assert np.ptp(found) > 0
    assert found.tolist() == doubt(problem, MemoryMap(), Run()).tolist()


@pytest.mark.parametrize("problem", [problem_of((W,), (), ()), PINS_THAT_DO_NOT_FIT])
def test_what_cannot_be_played_has_no_proposal(problem: Problem) -> None:
    assert not Doubt(untrained(), 8)(problem, MemoryMap(), Run()).any()


def test_without_time_nothing_is_proposed() -> None:
    run = Run(deadline=time.monotonic())
    assert not Doubt(untrained(), 8)(CHAIN, MemoryMap(), run).any()


def test_what_there_was_no_time_for_once_is_not_tried_again() -> None:
    doubt = Doubt(untrained(), 8)
    for run in (Run(is_over=lambda: True), Run()):
        assert not doubt(CHAIN, MemoryMap(), run).any()


def test_where_time_runs_out_the_proposal_before_is_kept() -> None:
    doubt = Doubt(untrained(), 8)
    first = doubt(CHAIN, MemoryMap(), Run())
    assert first.any()
    again = doubt(CHAIN, FASTEST, Run(is_over=lambda: True))
    assert again.tolist() == first.tolist()


def test_a_game_that_is_made_already_takes_no_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    doubt = Doubt(untrained(), 8)
    first = doubt(CHAIN, MemoryMap(), Run())
    monkeypatch.setattr(proposing, "listing_s", lambda _: math.inf)
    run = Run(deadline=time.monotonic() + 600)
    assert doubt(CHAIN, FASTEST, run) is not first
    assert not Doubt(untrained(), 8)(CHAIN, FASTEST, run).any()


def test_as_many_threads_as_before_are_used_afterwards() -> None:
    before = torch.get_num_threads()
    Doubt(untrained(), 8)(CHAIN, MemoryMap(), Run(workers=before + 1))
    assert torch.get_num_threads() == before


def test_options_are_checked_and_read_from_text() -> None:
    with pytest.raises(ValueError, match="positions"):
        AgentWindowsConfig(positions=0)
    assert str(parse("agent-windows(positions=9)")) == "agent-windows(positions=9)"


def test_a_robust_map_is_slower_under_neither_model(bundled: Path) -> None:
    problem = read_problem(bundled / "mixer_block_b128")
    start = problem.compiler_map
    result = solve(problem, AgentWindows(), robust=True, warm_start=start, iterations=4)
    assert result.speedups_vs_start is not None
    assert min(result.speedups_vs_start.values()) >= 1
