"""A position of the fast game."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybridalloc.allocating import in_queue_order
from hybridalloc.arrays import Floats, Ints
from hybridalloc.game.action import Action
from hybridalloc.game.fast import tables
from hybridalloc.game.fast.layout import copy_block
from hybridalloc.game.fast.turns import follow, look, play_randomly, replay, take
from hybridalloc.incremental.slots import allocations
from hybridalloc.incremental.tables import CROSS, N_ACTIVE, SLOT_COLUMNS, STAY
from hybridalloc.memory_map import MemoryMap

if TYPE_CHECKING:
    from hybridalloc.game.fast.game import FastGame


class Position:
    """A position: changes as it is played, and can be copied."""

    __slots__ = ("_block", "_options", "_places", "_scores", "game", "where")

    def __init__(self, game: FastGame, block: Ints) -> None:
        """Take a block of memory for a position.

        Args:
            game: Which.
            block: (words,): is kept, and changed.
        """
        self.game = game
        self._block = block
        self.where = game.layout.directory(block)
        """(tables, 3): the directory of its tables."""
        self._places = self._table("places")
        self._scores = self._table("scores").view(np.float64)
        self._options = self._table("options").reshape(-1, SLOT_COLUMNS + 1)

    def __reduce__(self) -> tuple[type[Position], tuple[FastGame, Ints]]:
        """As ``copy.deepcopy`` and ``pickle`` take it: without addresses."""
        return Position, (self.game, self._block.copy())

    @property
    def step(self) -> int:
        """The next step to decide on."""
        return int(self._places[tables.STEP])

    @property
    def is_terminal(self) -> bool:
        """Whether all is decided."""
        return self.step == len(self.game.game.steps)

    @property
    def time_s(self) -> float:
        """Seconds that the program takes, undecided accesses from slow memory."""
        return float(self._scores[tables.SECONDS])

    def mask(self) -> NDArray[np.bool_]:
        """(actions,): whether each is legal; the three, then the game's options."""
        if self.is_terminal:
            return np.zeros(self.game.actions, np.bool_)
        look(*self.game.constants, self.where)
        legal: NDArray[np.bool_] = self._options[:, SLOT_COLUMNS] != tables.FORBIDDEN
        if self.game.actions == len(Action):
            return legal
        options = self.game.game.advice.legal(legal, self.step)
        return np.concatenate((legal, options))

    def apply(self, action: int) -> float:
        """Decide on the next access, with Drop-backup as in the pure game.

        Args:
            action: One of the three, or an option, as ``mask`` counts them.

        Returns:
            The seconds that this saves.

        Raises:
            ValueError: The action is not legal.
        """
        before, step, mask = self.time_s, self.step, self.mask()
        if not (0 <= action < mask.size and mask[action]):
            raise ValueError(
                f"step {step}: action {action} is not legal (expected one of: "
                f"{self._named(mask)})"
            )
        option = self.game.game.advice.option_of(action)
        if option is None:
            take(*self.game.constants, self.where, action)
            self._leave_dead_ends()
        else:
            line = self.game.game.advice.lines[option.heuristic]
            until = self.game.game.until[step] if option.until_next else step + 1
            self.follow(line, np.arange(line.size) == until, sys.maxsize)
        return before - self.time_s

    @property
    def copy_is_cross_program(self) -> bool:
        """Whether Copy is legal, and takes what the previous run has left."""
        is_legal, stay = self.mask()[Action.COPY], self._options[Action.COPY, STAY]
        return bool(is_legal and self.game.rows[stay].kind == CROSS)

    @property
    def taken(self) -> tuple[Action, ...]:
        """The actions so far; what Drop-backup has undone is not among them."""
        return tuple(Action(x) for x in self.line.tolist())

    @property
    def line(self) -> Ints:
        """(step,): the same actions, as numbers."""
        line: Ints = self._table("taken")[: self.step] % tables.DROPPABLE
        return line

    @property
    def served(self) -> NDArray[np.bool_]:
        """(step,): whether fast memory serves each access that is decided."""
        served: NDArray[np.bool_] = self.line != tables.DROP
        return served

    def play_randomly(self, random: np.random.Generator, steps: int) -> int:
        """Take random legal actions, as many as there are steps; how many it took."""
        made = 0
        while made < steps and not self.is_terminal:
            made += play_randomly(
                *self.game.constants, self.where, steps - made, random
            )
            self._leave_dead_ends()
        return made

    def replay(self, line: Ints) -> Floats:
        """Take actions again that were legal when they were taken.

        Args:
            line: (steps,): as ``line`` has them.

        Returns:
            (steps,): what the program takes after each of them, in seconds.
        """
        pace = np.empty(line.size)
        replay(*self.game.constants, self.where, line, pace)
        return pace

    def follow(self, line: Ints, free: NDArray[np.bool_], steps: int) -> None:
        """Play as a line has it, up to the next free step or to the end.

        Args:
            line: (steps of the game,): an action for each, from the first on; where it
                is not legal, the first of ``INSTEAD`` that is.
            free: (steps of the game,): those that are left to others.
            steps: How many are taken at most; what Drop-backup undoes counts too.
        """
        left = steps
        while left > 0 and not (self.is_terminal or free[self.step]):
            left -= follow(*self.game.constants, self.where, line, free, left)
            self._leave_dead_ends()

    def copy(self) -> Position:
        """Another position, the same as this one."""
        other = Position(self.game, np.empty(self.game.layout.words, dtype=np.int64))
        self.copy_to(other)
        return other

    def copy_to(self, other: Position) -> None:
        """Make another position of the game the same as this one."""
        slots = int(self._places[tables.HIGH_WATER])
        copy_block(self._block, other._block, self.game.layout.tables, slots)

    def memory_map(self) -> MemoryMap:
        """The map so far; valid where the game has ended."""
        rows, problem = self.game.rows, self.game.game.problem
        active = self._table("active")[: self._table("counts")[N_ACTIVE]]
        slots = self._table("slots").reshape(-1, SLOT_COLUMNS)[active].tolist()
        made = [x for row in slots for x in allocations(problem, rows[row[0]], row)]
        return MemoryMap(in_queue_order(made))

    def _named(self, mask: NDArray[np.bool_]) -> str:
        """The actions that a mask has, in words."""
        advice = self.game.game.advice
        chosen = [
            advice.option_of(x) or Action(x) for x in np.flatnonzero(mask).tolist()
        ]
        return ", ".join(map(advice.name_of, chosen)) or "none"

    def _leave_dead_ends(self) -> None:
        """Drop-backup, until something is legal."""
        while (buffer := self._stuck_buffer()) >= 0:
            turns = self.game.game.steps
            taken, forced = self._table("taken").copy(), self._table("forced").copy()
            at = max(
                i
                for i in range(self.step)
                if turns[i].buffer == buffer
                and taken[i] >= tables.DROPPABLE
                and taken[i] % tables.DROPPABLE != tables.DROP
            )
            forced[at] = 1
            self.game.first.copy_to(self)
            self._table("forced")[:] = forced
            self.replay(taken[:at])
            take(*self.game.constants, self.where, tables.DROP)

    def _stuck_buffer(self) -> int:
        """The buffer for which nothing is legal, or -1."""
        if self.is_terminal:
            return int(self._places[tables.STUCK])
        if look(*self.game.constants, self.where):
            return -1
        return self.game.game.steps[self.step].buffer

    def _table(self, name: str) -> Ints:
        """One of the position's own tables, flat."""
        where = self.game.layout.where[self.game.names.index(name)]
        begin, size = int(where[0]) // 8, int(where[1] * where[2])
        return self._block[begin : begin + size]
