"""Where the agent is in doubt along a map: proposals for windows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import torch

from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.perception import Seen
from hybridalloc.agents.muzero.programs import EXTENDED
from hybridalloc.agents.muzero.threads import threads
from hybridalloc.arrays import Floats, Ints
from hybridalloc.game import Game
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.fixing import fixed
from hybridalloc.game.listing import listing_s
from hybridalloc.game.playback import playback
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.solver import Run

SHARE = 0.2
"""Of the time, that a proposal may take."""
BATCH = 32
"""Positions that the network evaluates at once."""


class Doubt:
    """Proposes where the network is unsure of the return to come, along a map.

    The map is played back, and the network evaluates positions on the way. An access
    counts by the standard deviation of its value there. If there was no time for that
    once, the doubt along the map before is all there is from then on.
    """

    def __init__(self, network: Network, positions: int) -> None:
        """Take what evaluates positions.

        Args:
            network: Is read only; in the mode for evaluation.
            positions: How many it evaluates at most, evenly spaced; what is between
                them is interpolated.
        """
        self._network, self._positions = network, positions
        self._problem: Problem | None = None
        self._game: FastGame | None = None
        """Of the problem, if there was time for it and there is something to play."""
        self._found = np.zeros(0)
        """What it proposed last."""
        self._is_late = False

    def __call__(self, problem: Problem, memory_map: MemoryMap, run: Run) -> Floats:
        """(T,): the doubt, summed over the accesses of each instruction."""
        own = replace(run, deadline=run.until(SHARE))
        if self._problem is not problem:
            self._begin(problem, own)
        if self._game is None or self._is_late:
            return self._found
        steps = self._game.game.steps
        at = spread(len(steps), self._positions)
        line = playback(self._game, memory_map).line
        try:
            with threads(run.workers):
                doubts = self._doubts(self._game, line, at, own)
        except TimeoutError:
            self._is_late = True
            return self._found
        every = np.interp(np.arange(len(steps)), at, doubts)
        self._found = np.zeros(len(problem.program))
        np.add.at(self._found, [x.instruction for x in steps], every)
        return self._found

    def _begin(self, problem: Problem, run: Run) -> None:
        """Make the game of a problem, if it can be played and there is time for it."""
        self._problem, self._game = problem, None
        self._found = np.zeros(len(problem.program))
        if listing_s(problem) >= run.remaining_s:
            return
        with suppress(ValueError):
            game = Game(problem, EXTENDED, fixed(problem, run.deadline))
            self._game = FastGame(game) if game.steps else None

    @torch.inference_mode()
    def _doubts(self, game: FastGame, line: Ints, at: Ints, run: Run) -> Floats:
        """(positions,): the doubt before each of these steps of a line."""
        observing = Observing(self._network.config.observation)
        position, found = game.begin(), []
        for first in range(0, at.size, BATCH):
            if run.expired:
                raise TimeoutError
            batch = list(_along(position, line, at[first : first + BATCH]))
            seen = Seen.of(observing.observe(batch), self._network.device)
            prediction = self._network.predict(self._network.represent(seen))
            shares = prediction.value_logits.softmax(-1)
            numbers = self._network.values.numbers
            variances = shares @ numbers.square() - (shares @ numbers).square()
            found.append(variances.clamp(min=0).sqrt())
        doubts: Floats = torch.cat(found).double().cpu().numpy()
        return doubts


def spread(count: int, most: int) -> Ints:
    """Indices of so many things, all or evenly spaced ones with the first and last.

    Args:
        count: At least 1.
        most: How many indices there are at most.

    >>> spread(3, 5).tolist(), spread(9, 3).tolist(), spread(9, 1).tolist()
    ([0, 1, 2], [0, 4, 8], [0])
    """
    return np.linspace(0, count - 1, min(count, most)).astype(np.int64)


def _along(position: Position, line: Ints, at: Ints) -> Iterator[Position]:
    """Copies of a position as it is played on along a line, before each of these steps.

    Args:
        position: Is played on.
        line: (steps,): actions that are legal one after the other.
        at: (B,): in order, none before the position's own step.
    """
    for step in at.tolist():
        while position.step < step:
            position.apply(int(line[position.step]))
        yield position.copy()
