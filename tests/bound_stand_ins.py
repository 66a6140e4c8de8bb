"""Lower bounds that say what a test wants, in place of the one that takes time."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from hybridalloc.bounds.bound import Bound, Prices
from hybridalloc.bounds.certificate import Certificate, Leaf
from hybridalloc.bounds.linear_program import Builder
from hybridalloc.problem import Problem


@dataclass
class StandIn:
    """A lower bound of so many seconds, at the same price everywhere."""

    seconds: float
    interrupted: bool = False
    """Whether the user presses Ctrl-C, which a lower bound answers with what it has."""
    calls: list[tuple[float, float]] = field(default_factory=list)
    """The time limit and the cutoff of each call."""

    def __call__(
        self, problem: Problem, *, time_limit: float = 60.0, cutoff: float = math.inf
    ) -> Bound:
        """The bound."""
        self.calls.append((time_limit, cutoff))
        if self.interrupted:
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        prices = Prices(np.full(len(problem.program), 1e-12), 2e-15)
        return Bound(self.seconds, prices, {}, _certificate(self.seconds), 1.0, 0.5)


def without_prices(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Put a stand-in that had no time for prices."""
    made = StandIn(seconds)

    def bound(problem: Problem, **limits: float) -> Bound:
        return replace(made(problem, **limits), prices=None)

    monkeypatch.setattr("hybridalloc.bounds.lower_bound", bound)


def _certificate(seconds: float) -> Certificate:
    """The proof that a number is no less than itself."""
    builder = Builder()
    builder.column(low=seconds, high=seconds, cost=1.0)
    builder.row([(0, 1.0)])
    return Certificate(builder.build(), (), (Leaf.of(np.zeros(1)),))


Use = Callable[..., StandIn]
"""Puts a stand-in for the rest of the test; takes its fields."""


def user(monkeypatch: pytest.MonkeyPatch) -> Use:
    """What puts stand-ins, for a fixture."""

    def use(seconds: float, interrupted: bool = False) -> StandIn:
        made = StandIn(seconds, interrupted)
        monkeypatch.setattr("hybridalloc.bounds.lower_bound", made, raising=False)
        return made

    return use
