"""Advice: what heuristics would do at each step, to be followed in the game.

A heuristic votes on every access before the game begins, for itself alone. To follow it
is an *option* (Sutton, Precup and Singh, Artificial Intelligence 112, 1999): for one
access, or for all steps until the buffer of this one is to be decided on again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybridalloc.arrays import Ints
from hybridalloc.game.action import Action

Votes = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Option:
    """To do as a heuristic would."""

    heuristic: int
    """Which, as an index into ``Advice.names``."""
    until_next: bool
    """Whether until the buffer is to be decided on again, or for this access only."""


@dataclass(frozen=True, eq=False)
class Advice:
    """What H heuristics would do at each step of a game."""

    names: tuple[str, ...]
    """(H,): what they are called."""
    votes: Votes
    """(H, steps, actions): how much each is for each of the three actions; these sum
    to 1."""
    may_be_followed: bool = True
    """Whether there are options; without, there are votes alone."""

    @cached_property
    def lines(self) -> Ints:
        """(H, steps): the action that each is most for; the first of several."""
        lines: Ints = self.votes.argmax(axis=2).astype(np.int64)
        return lines

    @cached_property
    def mean(self) -> Votes:
        """(steps, 3): all votes, each heuristic as good as another; 0 without any."""
        mean: Votes = self.votes.sum(axis=0) / max(1, len(self.names))
        return mean

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """(2 H,): those for one access first. As actions they follow the three."""
        every = range(len(self.names))
        return tuple(Option(h, until) for until in (False, True) for h in every)

    def option_of(self, action: int) -> Option | None:
        """The option that a number stands for; nothing if that is one of the three."""
        index = action - len(Action)
        return self.options[index] if 0 <= index < len(self.options) else None

    def name_of(self, action: Action | Option) -> str:
        """What an action or an option is called.

        >>> advice([("msa", [0, 2])], 2).name_of(Option(0, until_next=True))
        'FOLLOW msa until next'
        """
        if isinstance(action, Action):
            return action.name
        span = " until next" if action.until_next else ""
        return f"FOLLOW {self.names[action.heuristic]}{span}"

    def legal(self, actions: NDArray[np.bool_], step: int) -> NDArray[np.bool_]:
        """(2 H,): the options that begin with a legal action.

        Args:
            actions: (3,): which of the three are.
            step: Of the game.
        """
        begin: NDArray[np.bool_] = actions[self.lines[:, step]]
        return np.tile(begin & self.may_be_followed, 2)

    @property
    def followed(self) -> Ints:
        """(H, steps): the lines that may be followed; (0, steps) if none may be."""
        return self.lines if self.may_be_followed else self.lines[:0]


def advice(heuristics: Sequence[tuple[str, ArrayLike]], steps: int) -> Advice:
    """The advice of heuristics, by their names.

    Args:
        heuristics: For each either (steps,), an action for each step; or (steps, 3),
            how much it is for each of the three, in any unit.
        steps: Of the game.

    Raises:
        ValueError: Two heuristics have one name, or votes are not of such a shape, not
            an action, negative, or all 0 at a step.
    """
    names = tuple(name for name, _ in heuristics)
    twice = [x for i, x in enumerate(names) if x in names[:i]]
    if twice:
        raise ValueError(f"advice: there are two heuristics called {twice[0]!r}")
    votes = [_votes(name, np.asarray(x), steps) for name, x in heuristics]
    shape = len(names), steps, len(Action)
    return Advice(names, np.array(votes, np.float32).reshape(shape))


def _votes(name: str, given: NDArray[np.generic], steps: int) -> Votes:
    """(steps, 3): probabilities."""
    where = f"advice of {name!r}"
    if given.shape not in ((steps,), (steps, len(Action))):
        raise ValueError(
            f"{where}: expected an action, or three votes, for each of {steps} steps; "
            f"got an array of shape {given.shape}"
        )
    if given.ndim == 1:
        known = np.isin(given, list(Action))
        if not known.all():
            step = int(np.argmin(known))
            raise ValueError(f"{where}, step {step}: {given[step]} is no action")
        every: Votes = np.eye(len(Action), dtype=np.float32)
        return every[given.astype(np.int64)]
    votes = given.astype(np.float64)
    total = votes.sum(axis=1, keepdims=True)
    wrong = ~(np.isfinite(votes) & (votes >= 0)).all(axis=1) | ~(total[:, 0] > 0)
    if wrong.any():
        step = int(np.argmax(wrong))
        raise ValueError(
            f"{where}, step {step}: expected three numbers of at least 0, not all 0; "
            f"got {votes[step].tolist()}"
        )
    shares: Votes = (votes / total).astype(np.float32)
    return shares


def none(steps: int) -> Advice:
    """No advice, for a game of so many steps."""
    return advice([], steps)
