"""Small programs that are ready to be played, and short trainings of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from muzero_cases import COARSE, TINY
from named_problems import NAMED
from small_problems import Sizes, small_problem

from hybridalloc.agents.muzero.curriculum import CurriculumConfig
from hybridalloc.agents.muzero.demonstrations import DemonstrationConfig
from hybridalloc.agents.muzero.learner import LearnerConfig
from hybridalloc.agents.muzero.observing import Observations, Observing
from hybridalloc.agents.muzero.programs import Entry, prepare
from hybridalloc.agents.muzero.replay import ReplayConfig
from hybridalloc.agents.muzero.run import Run, begin_run
from hybridalloc.agents.muzero.run_folder import RunFolder, read_lines
from hybridalloc.agents.muzero.search import SearchConfig
from hybridalloc.agents.muzero.session import Sitting, train
from hybridalloc.agents.muzero.sources import Limit
from hybridalloc.agents.muzero.training_config import TrainConfig
from hybridalloc.agents.muzero.trajectory import Trajectory, replayed, shared

SHORT = TrainConfig(
    network=TINY,
    search=SearchConfig(simulations=2),
    learner=LearnerConfig(batch=8, unroll=2),
    replay=ReplayConfig(decisions=60),
    curriculum=CurriculumConfig(first=1, more=1, games=2, decisions=1000),
    demonstrations=DemonstrationConfig(("greedy",), None, 1),
    imitation_steps=2,
    steps=2,
    reanalysed=1,
    validate_every=2,
    bound_time_s=0.0,
)
"""Iterations of two steps, the first of imitation; nothing that a clock decides."""
DEAD_ENDS = small_problem(121, Sizes(6, 10, 2))
"""Eleven decisions, of which Drop-backup often undoes some."""
PROGRAMS = DEAD_ENDS, NAMED["more than fits"]
STEPS = 9
"""Four iterations of two steps, and half of one."""


def settings() -> list[str]:
    """What ``--set`` has to say for a training like that."""
    return [
        "network.width=16",
        "network.patch=2",
        "network.channels=4",
        "network.token_width=8",
        "network.heads=2",
        "search.simulations=2",
        "learner.batch=8",
        "learner.unroll=2",
        "replay.decisions=300",
        "curriculum.games=2",
        'demonstrations.strategies=["greedy"]',
        "demonstrations.iterations=1",
        "imitation_steps=2",
        "steps=2",
        "reanalysed=1",
        "validate_every=2",
    ]


@cache
def entries() -> tuple[Entry, ...]:
    """Two programs, the first with dead ends."""
    return prepare(PROGRAMS[0]), prepare(PROGRAMS[1])


@cache
def observing() -> Observing:
    """Observes them."""
    return Observing(COARSE)


def random_game(index: int, seed: int) -> Trajectory:
    """Random legal actions in one of the programs, with made-up policies and values."""
    random, entry = np.random.default_rng(seed), entries()[index]
    position, actions = entry.game.begin(), []
    while not position.is_terminal:
        actions.append(int(random.choice(np.flatnonzero(position.mask()))))
        position.apply(actions[-1])
    game = replayed(
        *(entry, index, np.array(actions, np.int8)),
        np.zeros((len(actions), 3), np.float32),
        random.random(len(actions), np.float32),
        observing(),
        is_demonstration=False,
    )
    policies = random.random(game.masks.shape, np.float32) * game.masks
    policies /= policies.sum(axis=1, keepdims=True)
    return replace(game, policies=policies)


def made(
    rewards: list[float],
    values: list[float] | None = None,
    *,
    entry: int = 0,
    is_demonstration: bool = False,
) -> Trajectory:
    """A game that never was: its actions are 0, 1, 2, 0, ...; position i sees i."""
    count = len(rewards)
    actions = np.arange(count, dtype=np.int8) % 3
    policies = np.tile(np.array([0.5, 0.25, 0.25], np.float32), (count, 1))
    alike = np.eye(3, dtype=np.bool_)[actions]
    seen: list[Any] = [np.arange(count, dtype=np.float16).reshape(count, 1)] * 4
    return Trajectory(
        entry=entry,
        actions=actions,
        rewards=np.array(rewards, np.float32),
        masks=np.ones((count, 3), np.bool_),
        alike=alike,
        votes=np.zeros((count, 3), np.float32),
        policies=shared(alike) if is_demonstration else policies,
        values=np.array(values or rewards, np.float32),
        observations=Observations(*seen),
        time_s=1.0,
        is_demonstration=is_demonstration,
    )


def quiet(_: str) -> None:
    """Says nothing."""


def begun(path: Path, config: TrainConfig = SHORT, seed: int = 0) -> Run:
    """A run of both programs, that is validated on the second."""
    return begin_run(RunFolder(path), PROGRAMS, PROGRAMS[1:], config, seed, quiet)


def sit(run: Run, steps: int = STEPS) -> dict[str, Any]:
    """Train a run; what comes of it."""
    return train(run, Sitting(Limit(steps)), quiet)


def told(folder: RunFolder) -> list[dict[str, Any]]:
    """The metrics of a run."""
    return list(read_lines(folder.metrics))
