"""How the search spends its simulations, and what it makes of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST_SIMULATIONS = 4096
"""Their hidden states are all kept at a time."""


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """The parameters of Gumbel MuZero's search; the names are the paper's."""

    simulations: int = 32
    """Steps tried in the tree before each decision."""
    considered_actions: int = 3
    """Actions drawn at the root, which sequential halving then chooses from."""
    c_visit: float = 50.0
    """Values weigh as if the action visited most had that many visits more."""
    c_scale: float = 0.1
    """Weight of values against the logits of the policy."""
    narrowest: float = 0.1
    """Differences of values below this do not count as large; mctx has 1e-8."""

    def __post_init__(self) -> None:
        for name in ("c_visit", "c_scale", "narrowest"):
            object.__setattr__(self, name, float(getattr(self, name)))
        for name, least in (("simulations", 1), ("considered_actions", 1)):
            if getattr(self, name) < least:
                raise ValueError(
                    f"search: {name} {getattr(self, name)} is not at least {least}"
                )
        if self.simulations > MOST_SIMULATIONS:
            raise ValueError(
                f"search: simulations {self.simulations} is more than "
                f"{MOST_SIMULATIONS}"
            )
        if not 0 < self.narrowest < math.inf:
            raise ValueError(f"search: narrowest {self.narrowest} is not above 0")
        for name in ("c_visit", "c_scale"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(
                    f"search: {name} {getattr(self, name)} is not a number from 0 on"
                )
