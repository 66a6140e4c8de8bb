"""How far a training is."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Self

from hybridalloc.agents.muzero.learner import Losses


class Phase(StrEnum):
    """What an iteration does, one after the other."""

    PLAY = "play"
    """Games are played, and older ones searched again; nothing while it imitates."""
    LEARN = "learn"
    """Steps of gradient descent."""
    JUDGE = "judge"
    """At times a validation; then the metrics are written."""


@dataclass
class Progress:
    """The counters of a training; the checkpoint holds them."""

    phase: Phase = Phase.PLAY
    iteration: int = 0
    """Iterations that are complete."""
    step: int = 0
    """Steps of learning, of all iterations."""
    done: int = 0
    """Of the present one."""
    games: int = 0
    """Games played; demonstrations do not count."""
    decisions: int = 0
    """Made in these games."""
    keys: int = 0
    """Trajectories so far: the next one's key."""
    seconds: float = 0.0
    """Of training, in all sittings."""
    best: float = -math.inf
    """The best speed-up in a validation."""
    earned: float | None = None
    """The mean return of the latest games."""
    sums: list[float] = field(default_factory=lambda: [0.0] * len(Losses._fields))
    """Of the losses in the present iteration."""
    last: list[float] = field(default_factory=list)
    """The losses of the last step."""

    def __str__(self) -> str:
        parts = [f"iteration {self.iteration}", f"step {self.step}"]
        if self.games:
            parts.append(f"{self.games} games")
        if self.last:
            parts.append(f"loss {self.last[0]:.3f}")
        if self.earned is not None:
            parts.append(f"return {self.earned:.4f}")
        if math.isfinite(self.best):
            parts.append(f"best speed-up {self.best:.4f}")
        return ", ".join(parts)

    def note(self, losses: Losses) -> None:
        """Count a step of learning."""
        self.step, self.done = self.step + 1, self.done + 1
        self.last = list(losses)
        self.sums = [x + y for x, y in zip(self.sums, losses, strict=True)]

    def means(self) -> dict[str, float]:
        """The mean losses of the present iteration, by name."""
        count = max(1, self.done)
        names = (f"loss_{name}" for name in Losses._fields)
        return {n: x / count for n, x in zip(names, self.sums, strict=True)}

    def begin_iteration(self) -> None:
        """Count the present iteration, and begin another."""
        self.phase, self.iteration, self.done = Phase.PLAY, self.iteration + 1, 0
        self.sums = [0.0] * len(Losses._fields)

    def state(self) -> dict[str, Any]:
        """What ``restored`` takes."""
        return {**asdict(self), "phase": self.phase.value}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Self:
        """The counters that were in a checkpoint."""
        return cls(**{**state, "phase": Phase(state["phase"])})
