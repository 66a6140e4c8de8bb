"""Trajectories: games that were played, as the network learns from them."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybridalloc.agents.muzero.model import Bools
from hybridalloc.agents.muzero.observing import Observations, Observing, Singles
from hybridalloc.agents.muzero.prior import votes_at
from hybridalloc.arrays import Floats, Ints
from hybridalloc.errors import InputError
from hybridalloc.game import Action
from hybridalloc.io.files import write_bytes

if TYPE_CHECKING:
    from hybridalloc.agents.muzero.programs import Entry
    from hybridalloc.game.fast import FastGame, Position

FORMAT = 1
"""The version of the files."""
_PARTS = ("actions", "policies", "values")
_DAMAGE = (
    *(OSError, EOFError, ValueError, TypeError, LookupError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What reading a damaged file raises, by where the damage is."""


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """A whole game of L decisions, with those that Drop-backup has undone."""

    entry: int
    """The program, as an index into the list of those that are trained on."""
    actions: NDArray[np.int8]
    """(L,): what was applied."""
    rewards: Singles
    """(L,): their sum is how far the map is on the way from all-slow to the bound."""
    masks: Bools
    """(L, A): which actions were legal."""
    alike: Bools
    """(L, A): which would have done the same as the game did: the action that was
    applied, and options to follow who would have done that."""
    votes: Singles
    """(L, 3): the mean votes of the heuristics; 0 where there are none."""
    policies: Singles
    """(L, A): what a search has made of the policy; of a demonstration, all for what is
    alike."""
    values: Singles
    """(L,): the return to come, as a search has it; of a demonstration, as it came."""
    observations: Observations
    """(L, ...): of float16, to take less memory."""
    time_s: float
    """Seconds that the program takes with the map of the end."""
    is_demonstration: bool
    """Whether another strategy's map was played back."""

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def returns(self) -> Floats:
        """(L,): the rewards to come."""
        rewards = self.rewards.astype(np.float64)
        to_come: Floats = np.cumsum(rewards[::-1])[::-1]
        return to_come

    def end(self, entry: Entry) -> Position:
        """The position that the game ends in; ``entry`` is the program."""
        position = entry.game.begin()
        for action in self.actions.tolist():
            position.apply(action)
        return position

    def save(self, path: Path) -> None:
        """Write what cannot be worked out from the game into an .npz file.

        The file appears complete or not at all.

        Raises:
            InputError: It cannot be written.
        """
        data = io.BytesIO()
        np.savez_compressed(
            data,
            header=np.array([FORMAT, self.entry, self.is_demonstration]),
            actions=self.actions,
            policies=self.policies,
            values=self.values,
        )
        write_bytes(path, data.getvalue())


def replayed(
    entry: Entry,
    index: int,
    actions: NDArray[np.int8],
    policies: Singles,
    values: Singles,
    observing: Observing,
    *,
    is_demonstration: bool,
) -> Trajectory:
    """A trajectory from its actions: the game, which is deterministic, tells the rest.

    Args:
        entry: The program.
        index: Of it, in the list of programs.
        actions: (L,): to the end of a game.
        policies: (L, A)
        values: (L,)
        observing: Observes what is played again.
        is_demonstration: Whether another strategy's map is played back.

    Raises:
        ValueError: An action is not legal, or the game does not end with the last.
    """
    position, count = entry.game.begin(), len(actions)
    seen = Observations.empty(count, observing.config)
    rewards = np.empty(count, np.float32)
    masks, steps = np.empty((count, entry.game.actions), np.bool_), list[int]()
    for turn, action in enumerate(actions.tolist()):
        now = Observations(*(x[turn : turn + 1] for x in seen))
        observing.observe_into([position], now)
        masks[turn] = position.mask()
        steps.append(position.step)
        rewards[turn] = position.apply(action) / entry.scale_s
    if not position.is_terminal:
        raise ValueError(f"{count} actions do not reach the end of {entry.name}")
    return Trajectory(
        entry=index,
        actions=actions,
        rewards=rewards,
        masks=masks,
        alike=alike(entry.game, steps, actions, position.line),
        votes=votes_at([entry.game] * count, steps, masks),
        policies=policies,
        values=values,
        observations=halved(seen),
        time_s=position.time_s,
        is_demonstration=is_demonstration,
    )


def halved(observations: Observations) -> Observations:
    """The same in half the memory, of float16."""
    made: list[Any] = [x.astype(np.float16) for x in observations]
    return Observations(*made)


def load(path: Path, entries: Sequence[Entry], observing: Observing) -> Trajectory:
    """Read a trajectory, and play it again.

    Args:
        path: As ``Trajectory.save`` wrote it.
        entries: The programs that are trained on.
        observing: Observes what is played again.

    Raises:
        InputError: The file cannot be read, is damaged, or is of another program.
    """
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            version, index, is_demonstration = file["header"].tolist()
            actions, policies, values = (file[x] for x in _PARTS)
        if version != FORMAT or not 0 <= index < len(entries):
            raise ValueError(f"format {version}, program {index}")
        return replayed(
            *(entries[index], index, actions, policies, values, observing),
            is_demonstration=bool(is_demonstration),
        )
    except _DAMAGE as error:
        raise InputError(path, f"expected a trajectory: {error}") from error


def imitable(
    entry: Entry,
    index: int,
    actions: NDArray[np.int8],
    observing: Observing,
    *,
    is_demonstration: bool,
) -> Trajectory:
    """A trajectory whose own actions and returns are to be learned.

    Args and errors are those of ``replayed``.
    """
    blank = np.zeros(len(actions), np.float32)
    nothing = np.zeros((len(actions), entry.game.actions), np.float32)
    played = replayed(
        *(entry, index, actions, nothing, blank, observing),
        is_demonstration=is_demonstration,
    )
    played.policies[:] = shared(played.alike)
    played.values[:] = played.returns
    return played


def alike(
    game: FastGame, steps: Sequence[int], actions: NDArray[np.int8], line: Ints
) -> Bools:
    """(L, A): which actions would have done the same, the ones taken among them.

    Args:
        game: That was played.
        steps: (L,): at which the decisions were made.
        actions: (L,): what was decided.
        line: (steps of the game,): the actions of the game in the end.
    """
    advice, until = game.game.advice, game.game.until
    same = np.zeros((len(steps), game.actions), np.bool_)
    same[np.arange(len(steps)), actions] = True
    agrees = advice.lines == line
    differs = np.zeros((len(advice.names), line.size + 1), np.int64)
    np.cumsum(~agrees, axis=1, out=differs[:, 1:])
    at, first, count = np.array(steps), len(Action), len(advice.names)
    followed = np.flatnonzero(actions >= first)
    same[followed, line[at[followed]]] = True
    same[:, first : first + count] |= agrees[:, at].T
    same[:, first + count :] |= (differs[:, until[at]] == differs[:, at]).T
    return same


def shared(same: Bools) -> Singles:
    """(L, A): policies that are all for the actions that are alike.

    >>> shared(np.array([[False, True, True], [True, False, False]])).tolist()
    [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]
    """
    policies: Singles = same / same.sum(axis=1, keepdims=True, dtype=np.float32)
    return policies
