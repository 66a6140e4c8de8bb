"""Heuristics that vote in the game: strategies, the relaxation, and one's own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from hybridalloc.arrays import Floats
from hybridalloc.bounds import relaxed_serving
from hybridalloc.compose import as_solver, asked
from hybridalloc.errors import UsageError
from hybridalloc.game.action import Action
from hybridalloc.game.advice import Advice, advice
from hybridalloc.game.game import Game
from hybridalloc.game.playback import line_of
from hybridalloc.memory_map import MemoryMap
from hybridalloc.registry import (
    COMBINATORS,
    NAME,
    STATIC_STRATEGIES,
    STRATEGIES,
    nearest,
    plug_ins,
)
from hybridalloc.solver import Run

RELAXATION = "relaxation"
"""The heuristic that is the solution of the linear relaxation; all others that have a
name are strategies."""
USUAL = ("msa", "greedy", "belady", RELAXATION)
"""XLA's, the densest first, Belady's, and the relaxation's solution."""
NOT_HEURISTICS = (*STATIC_STRATEGIES, *COMBINATORS)
"""Names whose own errors say what they are."""
ASKING_SHARE = 0.2
"""The share of the time that heuristics are asked for, at most."""


class Heuristic(Protocol):
    """Says what it would do at each step of a game, for itself alone."""

    __name__: str

    def __call__(self, game: Game, /) -> ArrayLike:
        """(steps,): an action for each step; or (steps, 3): votes for the three."""
        ...


def names_in(text: str) -> tuple[str, ...]:
    """The heuristics in a text such as ``msa+relaxation``; none in an empty one.

    Raises:
        UsageError: One is neither a strategy nor the relaxation, or is ``replay``.
        ValueError: One is there twice.
    """
    names = tuple(x.strip() for x in text.split("+")) if text.strip() else ()
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ValueError(f"heuristics {text!r}: {name!r} is there twice")
        if name == "replay":
            raise UsageError("heuristics: no other strategy may see what replay does")
        if name != RELAXATION:
            _require_strategy(name)
    return names


def _require_strategy(name: str) -> None:
    if NAME.fullmatch(name) and name not in (*STRATEGIES, *NOT_HEURISTICS):
        added = plug_ins()
        if name not in (*added.entries, *added.refused):
            known = RELAXATION, *STRATEGIES, *added.entries
            hint = nearest(name, [x for x in known if x != "replay"])
            raise UsageError(f"heuristics: unknown strategy {name!r}; {hint}")
    as_solver(name)


def consult(
    game: Game, names: Iterable[str], own: Iterable[Heuristic], run: Run
) -> Advice:
    """What heuristics say of a game.

    Each named one has an equal share of the time that is left as it begins. One that
    has no answer by then is left out; without a deadline it would drop everything, so
    that every game has as many.

    Args:
        game: What is played.
        names: As of ``names_in``.
        own: Further ones, called as the functions are.
        run: Of who asks: all named ones together may take ``ASKING_SHARE`` of the time
            that is left, and its seed is that of each. Where it counts iterations,
            however many, each strategy has one, as when the agent was trained;
            otherwise there is no limit on them.

    Raises:
        ValueError: What one says is no vote, or two have one name.
    """
    named, votes = tuple(names), list[tuple[str, ArrayLike]]()
    counted = None if run.iterations is None else 1
    run = replace(run, deadline=run.until(ASKING_SHARE), iterations=counted)
    for number, name in enumerate(named):
        limited = replace(run, deadline=run.until(1 / (len(named) - number)))
        line = _asked(game, name, limited)
        if line is not None or math.isinf(run.deadline):
            votes.append((name, _dropping(game) if line is None else line))
    votes += [(x.__name__, x(game)) for x in own]
    return advice(votes, len(game.steps))


def votes_of(game: Game, served: Mapping[tuple[int, int], float]) -> Floats:
    """(steps, 3): votes for how far fast memory serves each access.

    What stays there since the buffer's last access needs no copy; the rest does,
    unless the access writes all of the buffer.

    Args:
        game: Of a problem.
        served: About in [0, 1], by instruction and buffer; 0 where there is nothing.
    """
    votes = np.zeros((len(game.steps), len(Action)))
    before = dict[int, float]()
    for vote, step in zip(votes, game.steps, strict=True):
        share = served.get((step.instruction, step.buffer), 0.0)
        share = min(1.0, max(0.0, share))  # what rounding has left is no vote
        access = game.problem.program.uses[step.buffer][step.use].access
        kept = share if access.whole else min(share, before.get(step.buffer, 0.0))
        vote[:] = kept, share - kept, 1 - share
        before[step.buffer] = share
    return votes


def _asked(game: Game, name: str, run: Run) -> ArrayLike | None:
    """What a named heuristic says, if it has an answer.

    A map that serves nothing is no answer once the time is over: strategies begin
    with it.
    """
    if name == RELAXATION:
        served = relaxed_serving(game.problem, run.deadline)
        return votes_of(game, served) if served else None
    maps: list[MemoryMap] = []
    given = replace(run, warm_start=None, report=maps.append)
    try:
        found = asked(as_solver(name), game.problem, given).map
    except TimeoutError:
        found = maps[-1] if maps else None
    if found is None:
        return None
    line = line_of(game, found)
    return None if run.expired and (line == Action.DROP).all() else line


def _dropping(game: Game) -> ArrayLike:
    """(steps,): everything in slow memory."""
    return np.full(len(game.steps), Action.DROP)
