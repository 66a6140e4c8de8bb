"""Walks of the local search whose every step is judged by simulator and checker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.baselines.random import Random
from hybridalloc.checker import check
from hybridalloc.cpsat_models.search.annealing import snapshot
from hybridalloc.cpsat_models.search.moves import EXCHANGE, move
from hybridalloc.cpsat_models.search.workspace import Goal, Workspace
from hybridalloc.incremental import tables
from hybridalloc.incremental.edits import accept, begin_move, judge, undo
from hybridalloc.loops import Loops
from hybridalloc.memory_map import MemoryMap
from hybridalloc.oracle import execute
from hybridalloc.problem import Problem
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Run
from hybridalloc.stays import candidate_stays, cross_program_stays

KINDS = range(EXCHANGE + 1)
"""Every kind of move."""
CLOSE = 1e-9
"""By which part the objective may differ from the simulator's time."""
CLOSE_S = 1e-12
"""By how many seconds it may, where the program takes next to no time."""


@dataclass(slots=True)
class Tally:
    """What has been seen."""

    moves: int = 0
    judged: int = 0
    """Of these, how many changed anything."""
    kept: int = 0
    checked: int = 0
    """Maps given to the checker and to the oracle."""
    rebuilt: int = 0
    """Maps put into new tables, to be compared with those that have changed."""
    undone: int = 0
    """Moves taken back, after which all tables were compared with those before."""
    worst: float = 0.0
    """The largest difference between an objective and the simulator's time, as a part
    of that."""

    def add(self, other: Tally) -> None:
        """Count what another walk has seen."""
        for name in self.__slots__:
            if name != "worst":
                setattr(self, name, getattr(self, name) + getattr(other, name))
        self.worst = max(self.worst, other.worst)


@dataclass(frozen=True, slots=True)
class Habits:
    """How a walk goes, and how closely it is watched."""

    keep_others: float = 0.3
    """How often a move that gains nothing is kept."""
    check_every: int = 1
    """Of the maps that are kept, each so-manieth is checked and rebuilt."""
    look_every: int = 1
    """Before each so-manieth move the tables are copied, in case it is taken back."""


class Walk:
    """Makes moves at random and keeps some, in tables that it compares with others."""

    def __init__(
        self, problems: Sequence[Problem], start: MemoryMap, seed: int
    ) -> None:
        """Begin with a map.

        Args:
            problems: One problem, or the same under several cost models.
            start: A valid map.
            seed: Of what is drawn.
        """
        self.problems = problems
        self.tally = Tally()
        self._random = np.random.default_rng(seed)
        self._simulators = [Simulator(problem) for problem in problems]
        self.workspace = self._tables_of(start)
        self._now = self.workspace.objective
        slots = len(self.workspace.state.slots)
        self._best = np.zeros((slots + 1, tables.SLOT_COLUMNS), dtype=np.int64)
        self._compare_times(self.map())

    def make(self, count: int, habits: Habits, kinds: Sequence[int] = KINDS) -> None:
        """Make so many moves of these kinds."""
        where, counts = self.workspace.directories, self.workspace.state.counts
        for number in range(count):
            watched = number % habits.look_every == 0
            before = standing(self.workspace) if watched else None
            kind = kinds[int(self._random.random() * len(kinds))]
            done = move(*where, kind, self._random)
            self.tally.moves += 1
            if done and counts[tables.N_LOGGED]:
                self.tally.judged += 1
                after = judge(*where)
                if after < self._now or self._random.random() < habits.keep_others:
                    accept(*where)
                    self._now = after
                    self._look_at_what_is_kept(habits)
                    continue
            undo(*where)
            if before is not None:
                self._look_at_what_is_undone(before)

    def map(self) -> MemoryMap:
        """The map as it is."""
        snapshot(self.workspace.directories[1], self._best)
        return self.workspace.memory_map(self._best[: self._best[-1, 0]])

    def _look_at_what_is_kept(self, habits: Habits) -> None:
        self.tally.kept += 1
        made = self.map()
        self._compare_times(made)
        if self.tally.kept % habits.check_every == 0:
            assert check(self.problems[0], made) == (), made
            assert execute(self.problems[0], made) == (), made
            self.tally.checked += 1
            self._compare_with_new_tables(made)

    def _look_at_what_is_undone(self, before: dict[str, object]) -> None:
        assert_same(standing(self.workspace), before)
        judged = judged_anew(self.workspace)
        assert math.isclose(judged, self._now, rel_tol=CLOSE, abs_tol=CLOSE_S)
        self.tally.undone += 1

    def _compare_times(self, made: MemoryMap) -> None:
        total = 0.0
        for clock, simulator in zip(
            self.workspace.clocks, self._simulators, strict=True
        ):
            time_s = simulator.evaluate(simulator.encode(made))
            found_s = clock.sums[tables.RUNNING] + clock.sums[tables.STALLS]
            differ_s = abs(found_s - time_s)
            assert differ_s <= max(CLOSE_S, CLOSE * time_s), (found_s, time_s, made)
            if time_s > CLOSE_S:
                self.tally.worst = max(self.tally.worst, differ_s / time_s)
            total += clock.sums[tables.WEIGHT] * time_s
        assert math.isclose(total, self._now, rel_tol=CLOSE, abs_tol=CLOSE_S)

    def _compare_with_new_tables(self, made: MemoryMap) -> None:
        anew = self._tables_of(made)
        seen, expected = standing(self.workspace), standing(anew)
        for of_slots in ("allocations", "free"):  # in other slots there
            del seen[of_slots], expected[of_slots]
        assert_same(seen, expected)
        self.tally.rebuilt += 1

    def _tables_of(self, start: MemoryMap) -> Workspace:
        program = self.problems[0].program
        loops, count = Loops(program), len(self.problems)
        return Workspace(
            Goal(tuple(self.problems), (1.0,) * count, (math.inf,) * count),
            list(candidate_stays(self.problems[0], loops)),
            cross_program_stays(self.problems[0], loops),
            start,
        )


def walk_from_a_random_map(problems: Sequence[Problem], seed: int) -> Walk | None:
    """A walk from a map of the strategy ``random``; nothing if it finds none."""
    start = Random().solve(problems[0], Run(iterations=1, seed=seed)).map
    return None if start is None else Walk(problems, start, seed)


def judged_anew(workspace: Workspace) -> float:
    """The objective of the tables as they are, played from the first step to the last.

    In place of a move: none may be under way.
    """
    counts = workspace.state.counts
    counts[tables.CHANGED_FROM] = 0
    counts[tables.CHANGED_TO] = len(workspace.world.steps)
    objective = float(judge(*workspace.directories))
    begin_move(*workspace.directories[:2])
    return objective


def standing(workspace: Workspace) -> dict[str, object]:
    """All that the tables say of the map, whatever the order where that is free."""
    state = workspace.state
    spare = int(state.counts[tables.N_SPARE])
    count = int(state.counts[tables.N_ACTIVE])
    assert count + spare == len(state.slots)
    assert not state.claims.any()
    assert not state.counts[tables.N_LOGGED]
    assert_linked(workspace)
    assert state.load.min(initial=0) >= 0
    return {
        "allocations": {i: allocation(state.slots[i]) for i in active(workspace)},
        "free": sorted(state.spare[:spare].tolist()),
        "load": state.load.copy(),
        "outstanding": state.outstanding.copy(),
        "fast": state.fast.copy(),
        "crosses": int(state.counts[tables.N_CROSSES]),
        "queued": queued(workspace),
        "times": [clock.times.copy() for clock in workspace.clocks],
    }


def active(workspace: Workspace) -> list[int]:
    """The slots in use."""
    state = workspace.state
    return sorted(state.active[: state.counts[tables.N_ACTIVE]].tolist())


def allocation(row: Ints) -> tuple[int, ...]:
    """What a slot says of its allocation, without its place among others."""
    end = tables.FIRST_BOX + 4 * row[tables.BOXES]
    return (*row[: tables.NEXT].tolist(), *row[tables.FIRST_BOX : end].tolist())


def assert_linked(workspace: Workspace) -> None:
    """Every slot in use is found by its place, its span and its buffer, once."""
    state = workspace.state
    for k, slot in enumerate(state.active[: state.counts[tables.N_ACTIVE]].tolist()):
        row = state.slots[slot]
        assert row[tables.PLACE] == k
        span = (row[tables.FROM], row[tables.UNTIL])
        assert tuple(state.spans[k]) == span
    found = []
    for buffer, head in enumerate(state.heads.tolist()):
        slot = head
        while slot >= 0:
            assert state.slots[slot, tables.OF] == buffer
            found.append(slot)
            slot = int(state.slots[slot, tables.NEXT])
    assert sorted(found) == active(workspace)


def queued(workspace: Workspace) -> dict[tuple[int, int], list[tuple[object, ...]]]:
    """The copies that are issued (0) and due (1) at each step, those in their order."""
    state = workspace.state
    found = {}
    for step, kind in zip(*np.nonzero(state.queued >= 0), strict=True):
        copies, copy = [], int(state.queued[step, kind])
        while copy >= 0:
            row = state.copies[copy]
            assert row[tables.ISSUE_STEP + kind] == step
            what = (copy % tables.PER_SLOT, round(float(state.works[copy]), 12))
            copies.append((*row[tables.KEY :].tolist(), *what))
            copy = int(row[tables.NEXT_ISSUED + kind])
        found[int(step), int(kind)] = sorted(copies) if kind else copies
    return found


def assert_same(seen: dict[str, object], expected: dict[str, object]) -> None:
    """Two tables say the same of the map."""
    assert seen.keys() == expected.keys()
    for name, value in seen.items():
        if isinstance(value, np.ndarray | list) and name != "free":
            np.testing.assert_array_equal(value, expected[name], err_msg=name)
        else:
            assert value == expected[name], name
