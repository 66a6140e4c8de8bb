"""The strategies by name: one table of strings, so that none is loaded before use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import cast

from hybridalloc.errors import UsageError
from hybridalloc.solver import Solver


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a strategy is, and what it does."""

    location: str
    """``module:Class``; the class is constructed without arguments."""
    description: str
    """One line."""


STRATEGIES: Mapping[str, Entry] = {
    "slow": Entry(
        "hybridalloc.baselines.slow:Slow",
        "everything stays in slow memory",
    ),
    "replay": Entry(
        "hybridalloc.baselines.replay:Replay",
        "the compiler's own answer, where the input carries it",
    ),
    "random": Entry(
        "hybridalloc.baselines.random:Random",
        "a random valid map",
    ),
    "greedy": Entry(
        "hybridalloc.baselines.greedy:Greedy",
        "most time saved for each byte and second first, best-fit offsets",
    ),
}
"""Each strategy's entry by its name."""


def get_solver(name: str) -> Solver:
    """The strategy of this name.

    Raises:
        UsageError: There is no such strategy.
    """
    if name not in STRATEGIES:
        close = get_close_matches(name, STRATEGIES, n=1)
        known = f"known: {', '.join(STRATEGIES)}"
        hint = f"did you mean {close[0]!r}?" if close else known
        raise UsageError(f"unknown strategy {name!r}; {hint}")
    module, _, attribute = STRATEGIES[name].location.partition(":")
    return cast(Solver, getattr(import_module(module), attribute)())
