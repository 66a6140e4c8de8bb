"""The fast game: the rules of the pure one, compiled, on tables."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.game.action import Action
from hybridalloc.game.fast import tables
from hybridalloc.game.fast.layout import Layout, fill, lay_out
from hybridalloc.game.fast.position import Position
from hybridalloc.game.fast.tables import Play, Rules
from hybridalloc.game.fast.turns import parts
from hybridalloc.game.game import Game
from hybridalloc.game.placing import MOST_SHIFTS
from hybridalloc.incremental import tables as incremental
from hybridalloc.incremental.directory import directory
from hybridalloc.incremental.edits import accept, begin_move, judge, put
from hybridalloc.incremental.slots import slot_row
from hybridalloc.incremental.tables import PER_SLOT, Clock, State
from hybridalloc.incremental.world import (
    Row,
    build_clock,
    build_world,
    empty_state,
    start_clock,
)

OWN = {
    **dict.fromkeys(("spare", "heads", "fast", "load", "outstanding", "queued"), 0),
    **dict.fromkeys(("counts", "times", "marks", "sums"), 0),
    **dict.fromkeys(
        ("live", "options", "taken", "places", "scores", "shifts", "forced"), 0
    ),
    **dict.fromkeys(("slots", "values", "active", "spans", "hopes"), 1),
    **dict.fromkeys(("copies", "works", "spots", "stamps"), PER_SLOT),
}
"""The tables that each position has of its own, with how many of their rows belong to a
slot; those that are not by slots have 0."""


class FastGame:
    """What does not change in a game, and room to work in.

    Its positions share that room: let one thread at a time play them.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.actions = len(Action) + len(game.advice.options)
        """How many there are, with the options."""
        rows = [
            Row(x.stay, incremental.CROSS if x.is_cross else incremental.USUAL)
            for x in game.growth.stays
        ]
        self.rows = (*rows, *(Row(x.grown.stay, untouched=True) for x in game.fixed))
        """The stays of the tables."""
        self._world = build_world(game.problem, self.rows)
        self._rules = _rules(game)
        self.constants = directory(self._world), directory(self._rules)
        """The directories of the world and of the rules."""
        slots = len(game.steps) + len(game.fixed) + 1
        state = empty_state(self._world, slots, len(game.problem.program.buffers))
        clock = build_clock(game.problem, PER_SLOT * slots, 1.0, np.inf)
        play = _play(game, slots)
        self._arrays = (*state, *clock, *play)
        self.names = (*State._fields, *Clock._fields, *Play._fields)
        self._start(state, clock, play)
        self.layout: Layout = lay_out(self._arrays, [OWN.get(x) for x in self.names])
        block = np.empty(self.layout.words, dtype=np.int64)
        fill(block, self.layout, self._arrays)
        self.first = Position(self, block)

    def __reduce__(self) -> tuple[type[FastGame], tuple[Game]]:
        """As ``copy.deepcopy`` and ``pickle`` take it: without addresses."""
        return FastGame, (self.game,)

    def begin(self) -> Position:
        """The first position."""
        return self.first.copy()

    def _start(self, state: State, clock: Clock, play: Play) -> None:
        """Put in what is fixed."""
        world = self.constants[0]
        where, clocks, _ = parts(directory(self._arrays))
        start_clock(self._world, state, clock, clocks[0])
        begin_move(world, where)
        first = len(self.game.growth.stays)
        for i, held in enumerate(self.game.fixed):
            row = slot_row(self.game.problem, first + i, held.allocations)
            slot = put(world, where, clocks, row, 0.0)
            play.hopes[slot] = row[incremental.FIRST_BOX + incremental.CLOSE]
        state.counts[incremental.CHANGED_FROM] = 0
        state.counts[incremental.CHANGED_TO] = len(self._world.steps)
        play.scores[tables.SECONDS] = judge(world, where, clocks)
        accept(world, where, clocks)
        play.places[tables.HIGH_WATER] = len(self.game.fixed)


def _rules(game: Game) -> Rules:
    growth = game.growth
    starts = [0, *accumulate(map(len, growth.fetched))]
    begins = zip(growth.produced, starts[:-1], starts[1:], growth.crossed, strict=True)
    grown = (*growth.stays, *(x.grown for x in game.fixed))
    return Rules(
        turns=_ints([(x.instruction, x.buffer, game.use(x)) for x in game.steps], 3),
        begins=_ints(list(begins), 4),
        fetches=_ints([x for stays in growth.fetched for x in stays]),
        growth=_ints([(x.longer, x.is_last, x.longest) for x in grown], 3),
        choices=_ints([game.config.waits, game.config.shifts]),
    )


def _play(game: Game, slots: int) -> Play:
    buffers, points = len(game.problem.program.buffers), len(game.problem.program) + 1
    places = _ints([0, 0, -1, -1, 0])
    return Play(
        live=_ints([-1] * buffers),
        hopes=_ints([0] * slots),
        options=np.zeros((len(Action), incremental.SLOT_COLUMNS + 1), dtype=np.int64),
        taken=_ints([0] * len(game.steps)),
        places=places,
        scores=np.zeros(1),
        candidates=_ints([0] * points),
        row=_ints([0] * incremental.SLOT_COLUMNS),
        forced=_ints([0] * len(game.steps)),
        shifts=_ints([-1] * (2 * len(Action) * MOST_SHIFTS), 2),
    )


def _ints(values: object, columns: int = 0) -> Ints:
    table = np.array(values, dtype=np.int64)
    return table.reshape(-1, columns) if columns else table
