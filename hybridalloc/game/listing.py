"""How long it takes to make a game."""

from __future__ import annotations

from hybridalloc.game.growth import MOST_ACCESSES
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem

STAYS_PER_S = 50_000
"""How many stays are listed in a second before a game begins, at least, as measured."""


def listing_s(problem: Problem) -> float:
    """How long it may take to list the stays of a game, at most, in seconds."""
    loops = Loops(problem.program)
    count = sum(
        min(len(uses), MOST_ACCESSES) * (1 + len(loops.around(use.instruction)))
        for uses in problem.program.uses
        for use in uses
    )
    return count / STAYS_PER_S
