"""The strategy ``greedy``: most time saved for what it takes first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hybridalloc.baselines.best import best_plan
from hybridalloc.baselines.drop import drop
from hybridalloc.baselines.moves import Moves, Weights, until_expired, weigh
from hybridalloc.baselines.plan import Plan
from hybridalloc.loops import Loops
from hybridalloc.memory_map import MemoryMap
from hybridalloc.pins import pinned
from hybridalloc.problem import Problem
from hybridalloc.ranges import require_within
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Outcome, Run
from hybridalloc.stays import candidate_stays


@dataclass(frozen=True, slots=True)
class Round:
    """One way to build a map; which is best depends on the program."""

    weights: Weights
    hope: float
    """The share of the idle time with everything in fast memory on which the first
    stays may count, before it is there."""
    waits: bool = False
    """Whether the program may wait for the copies of the first stays. Otherwise what is
    too large for its copies to be hidden comes last, when memory is full."""

    def __post_init__(self) -> None:
        require_within("hope", self.hope, 0, 1)


@dataclass(frozen=True, slots=True)
class GreedyConfig:
    """The ways to build a map, and how hard each tries."""

    rounds: tuple[Round, ...] = (
        Round(Weights(size=0.5, span=0.5, copies=16.0), hope=1.0),
        Round(Weights(size=0.25, span=0.5, copies=4.0), hope=0.0),
        Round(Weights(size=0.5, span=0.5, copies=16.0), hope=0.0),
        Round(Weights(size=1.0, span=1.0, copies=8.0), hope=0.5, waits=True),
    )
    displacements: int = 300
    """For how many of the stays that are left out to make room."""
    cross_programs: int = 20
    """How many cross-program prefetches to try."""

    def __post_init__(self) -> None:
        require_within("displacements", self.displacements, 0)
        require_within("cross_programs", self.cross_programs, 0)


class Greedy:
    """Builds a map stay by stay, in a few ways, and keeps the best.

    An iteration is one way. Deterministic: it ignores the seed and the warm start.
    """

    def __init__(self, config: GreedyConfig | None = None) -> None:
        self.config = config or GreedyConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Build maps that are valid by construction."""
        simulator = Simulator(problem)
        return best_plan(simulator, run, self._plans(problem, simulator, run))

    def _plans(
        self, problem: Problem, simulator: Simulator, run: Run
    ) -> Iterator[Plan]:
        """One plan after the other, each first half-way and then when it is complete.

        Where buffers are pinned, the first one comes even when there is no time for it.
        """
        loops = Loops(problem.program)
        stays = list(until_expired(run, candidate_stays(problem, loops)))
        for number, way in enumerate(self.config.rounds[: run.iterations]):
            if run.expired and (number or not pinned(problem.program)):
                return
            plan = Plan(problem, loops)
            candidates = weigh(plan, until_expired(run, stays), way.weights)
            if not plan.place_pinned():
                return
            moves = Moves(plan, candidates, run)
            yield from self._build(plan, moves, way, simulator, run)

    def _build(
        self, plan: Plan, moves: Moves, way: Round, simulator: Simulator, run: Run
    ) -> Iterator[Plan]:
        plan.engine.hope_for(way.hope)
        moves.place_all(may_stall=way.waits)
        plan.engine.hope_for(0.0)
        if way.hope:
            drop(plan, simulator, run)
        moves.place_all(may_stall=True)
        yield plan
        moves.displace_all(self.config.displacements)
        moves.place_cross_programs(self.config.cross_programs)
        moves.place_all(may_stall=True)
        drop(plan, simulator, run)
        yield plan


def greedy_map(problem: Problem, run: Run, share: float) -> MemoryMap | None:
    """The map of ``greedy`` for others to start from; ``None`` if it finds none.

    Args:
        problem: What to solve.
        run: Of whoever starts from it; its iterations are none of greedy's.
        share: The most of the time left that it may take.
    """
    deadline = run.deadline
    if run.iterations is None:
        deadline = run.until(share)
    limited = replace(run, deadline=deadline, iterations=None)
    return Greedy().solve(problem, limited).map
