"""mallocGame: one problem, its steps, and what a position in it is worth."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from hybridalloc.allocating import in_queue_order
from hybridalloc.arrays import Ints
from hybridalloc.game.advice import Advice, none
from hybridalloc.game.config import GameConfig
from hybridalloc.game.growth import NONE, Grown, grow, played
from hybridalloc.game.held import Held
from hybridalloc.game.room import Room
from hybridalloc.loops import Loops
from hybridalloc.memory_map import MemoryMap
from hybridalloc.packing.space import Span
from hybridalloc.pins import pinned
from hybridalloc.problem import Problem
from hybridalloc.recognition import recognise
from hybridalloc.simulator import Simulation, Simulator

THE_PAPERS = GameConfig()
NOTHING = MemoryMap()


@dataclass(frozen=True, slots=True)
class Step:
    """One access, to be decided on."""

    instruction: int
    """Whose access it is, as an index into the schedule."""
    buffer: int
    """What is accessed, as an index into the program's buffers."""
    use: int
    """The access, as an index into the buffer's uses."""


class Game:
    """The game of a problem: what never changes while it is played.

    Whoever plays it, or is asked about it, does not see the compiler's own answer.
    """

    def __init__(
        self,
        problem: Problem,
        config: GameConfig = THE_PAPERS,
        fixed: MemoryMap = NOTHING,
    ) -> None:
        """Prepare a game.

        Args:
            problem: What to map.
            config: The variant of the game.
            fixed: The allocations of the buffers that are pinned to fast memory, which
                are not played.

        Raises:
            ValueError: A pinned buffer has no allocation in ``fixed``.
        """
        self.problem = _without_answer(problem)
        """What is mapped, without the compiler's own answer."""
        self.config = config
        self.loops = Loops(problem.program)
        self.growth = grow(problem)
        self.steps = _steps(problem)
        """The accesses that are decided on, in the order of the schedule."""
        self.until = _until(self.steps)
        self.advice = none(len(self.steps))
        """What heuristics say of each step, and whether they may be followed; nothing
        until ``advised``."""
        self.room = Room(problem)
        self.simulator = Simulator(problem)
        self.fixed = tuple(
            Held(
                Grown(x.stay, is_cross=False, is_last=True, longer=NONE, longest=NONE),
                x.allocations,
            )
            for x in recognise(problem.program, self.loops, fixed)
        )
        _require_pinned(problem, self.fixed)

    def advised(self, advice: Advice) -> Self:
        """The same game, with this advice.

        Raises:
            ValueError: The advice is not of so many steps.
        """
        count = advice.votes.shape[1]
        if count != len(self.steps):
            raise ValueError(
                f"game: advice for {count} steps, expected {len(self.steps)}"
            )
        other = copy.copy(self)
        other.advice = advice
        return other

    def memory_map(self, held: Iterable[Held]) -> MemoryMap:
        """The map of these stays."""
        return MemoryMap(in_queue_order(a for x in held for a in x.allocations))

    def simulate(self, held: Iterable[Held]) -> Simulation:
        """What the program takes with these stays, all else in slow memory."""
        return self.simulator.simulate(self.memory_map(held))

    def stall_s(self, held: Iterable[Held]) -> float:
        """For how long the program waits for the copies of these stays, in seconds."""
        return self.simulate(held).stall_s

    def longer(self, held: Held) -> tuple[Held, Span] | None:
        """A stay that serves its buffer's next access too, and its place besides."""
        longer = held.grown.longer
        return None if longer == NONE else held.grown_to(self.growth.stays[longer])

    def use(self, step: Step) -> int:
        """The access of a step, counted over all buffers."""
        return self.growth.first_use[step.buffer] + step.use


def _without_answer(problem: Problem) -> Problem:
    """The problem, less the compiler's own answer if it carries that."""
    if problem.compiler_map is None:
        return problem
    return replace(problem, compiler_map=None)


def _steps(problem: Problem) -> tuple[Step, ...]:
    """The accesses that are decided on, in schedule order."""
    ours, used = set(played(problem)), [0] * len(problem.program.buffers)
    steps = []
    for t, instruction in enumerate(problem.program.instructions):
        for access in instruction.accesses:
            if access.buffer in ours:
                steps.append(Step(t, access.buffer, used[access.buffer]))
            used[access.buffer] += 1
    return tuple(steps)


def _until(steps: tuple[Step, ...]) -> Ints:
    """(steps,): the next step on the same buffer, or the end of the game."""
    until, later = np.empty(len(steps), np.int64), dict[int, int]()
    for i in reversed(range(len(steps))):
        until[i] = later.get(steps[i].buffer, len(steps))
        later[steps[i].buffer] = i
    return until


def _require_pinned(problem: Problem, fixed: Iterable[Held]) -> None:
    placed = {x.head.buffer for x in fixed}
    for buffer in pinned(problem.program):
        if buffer not in placed:
            name = problem.program.buffers[buffer].name
            raise ValueError(
                f"game: buffer {name} is pinned to fast memory, and no allocation of "
                f"it is given"
            )
