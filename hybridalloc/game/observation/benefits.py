"""The benefit of an access: the paper's proxy for what a decision saves."""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.cost_model import compile_costs, elapsed
from hybridalloc.game.game import Game


def benefits(game: Game) -> Floats:
    """(steps,): seconds saved by serving each access alone from fast memory.

    All other accesses are served from slow memory, and no copy is waited for
    (Optimizing Memory Mapping, section 3: the proxy of the reward).
    """
    problem, runs = game.problem, compile_costs(game.problem).runs
    slow_s = [elapsed(problem, t, ()) for t in range(len(problem.program))]
    saved = np.zeros(len(game.steps))
    for i, step in enumerate(game.steps):
        t = step.instruction
        saved[i] = runs[t] * (slow_s[t] - elapsed(problem, t, (step.buffer,)))
    return saved
