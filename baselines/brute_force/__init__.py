"""The strategy ``brute-force``: the best of all valid maps of a tiny problem.

For each buffer every set of stays in fast memory is listed that the checker accepts
for that buffer alone (``choices``), but for those that another is obviously as good as
(``stays``, ``dominance``). Then all combinations are searched, with offsets and with
the orders in which copies may queue, but for those that cannot beat the best map
(``search``). The simulator alone tells times.

What is not looked at: prefetches in slices, and three stays of a buffer at one time.
"""

from __future__ import annotations

from dataclasses import dataclass

from hybridalloc.baselines.brute_force.choices import choices
from hybridalloc.baselines.brute_force.placement import Placement
from hybridalloc.baselines.brute_force.search import Search
from hybridalloc.baselines.pins import is_pinned, pinned
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.ranges import require_within
from hybridalloc.solver import UNANSWERED, Infeasibility, Outcome, Run, Status


@dataclass(frozen=True, slots=True)
class BruteForceConfig:
    """What is searched."""

    instructions: int = 6
    """The most instructions of a problem that is searched at all."""
    buffers: int = 5
    """The most buffers with accesses."""
    any_input: bool = False
    """Whether every input that is no output and never written may be fetched before
    the program starts, not only those whose content is said to stay the same."""

    def __post_init__(self) -> None:
        require_within("instructions", self.instructions, 6)
        require_within("buffers", self.buffers, 5)


class BruteForce:
    """Tries every valid map of a tiny problem; leaves larger ones in slow memory."""

    def __init__(self, config: BruteForceConfig | None = None) -> None:
        self.config = config or BruteForceConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Search to the end or to the deadline; an iteration is one set of accesses.

        The answer is proven optimal only where prefetches cannot be sliced.
        """
        search = Search(problem, run)
        if not pinned(problem.program):
            search.best.offer(MemoryMap())
        finished = self._is_tiny(problem) and self._finishes(search, problem, run)
        best = search.best.map
        if best is None:
            if not finished:
                return UNANSWERED
            why = _shortage(problem, search.placement)
            return Outcome(None, Status.INFEASIBLE, infeasibility=why)
        sliced = problem.target.copy_engine.max_slices > 1
        if not finished or sliced or _is_beaten(search, run):
            return Outcome(best)
        return Outcome(best, Status.OPTIMAL, search.best.seconds)

    def _is_tiny(self, problem: Problem) -> bool:
        program, config = problem.program, self.config
        if len(program) > config.instructions:
            return False
        return sum(map(bool, program.uses)) <= config.buffers

    def _finishes(self, search: Search, problem: Problem, run: Run) -> bool:
        """Search all combinations: whether there was time for it."""
        try:
            found = [
                choices(problem, b, any_input=self.config.any_input, run=run)
                for b in range(len(problem.program.buffers))
            ]
            return search.all(found)
        except TimeoutError:
            return False


def _is_beaten(search: Search, run: Run) -> bool:
    """Whether the warm start is faster, as one that solvers do not look for may be."""
    if run.warm_start is None:
        return False
    simulator = search.best.simulator
    seconds = simulator.evaluate(simulator.encode(run.warm_start))
    return seconds < search.best.seconds


def _shortage(problem: Problem, placement: Placement) -> Infeasibility | None:
    """Where pinned buffers that are accessed at once exceed what fits by most."""
    program = problem.program
    worst: Infeasibility | None = None
    for t, step in enumerate(program.instructions):
        needed = [a.buffer for a in step.accesses if is_pinned(program, a.buffer)]
        excess = sum(program.buffers[b].size for b in needed) - placement.room(t)
        if excess > (worst.excess_bytes if worst else 0):
            names = tuple(program.buffers[b].name for b in needed)
            worst = Infeasibility(t, excess, names)
    return worst
