"""The strategy ``brute-force``: the best of all valid maps of a tiny problem.

For each buffer every set of stays in fast memory is listed that the checker accepts
for that buffer alone (``choices``). Then all combinations are searched, with every
offset that matters (``placement``) and every order in which copies may queue
(``orders``). The simulator alone tells times.

What is left out, and why nothing is lost by it:

- Ends at which nothing changes: a stay that ends one instruction earlier serves the
  same accesses, is there at the same entries and back edges, and takes less room
  (``stays``).
- Evictions of what was not written: slow memory has it already (``stays``).
- Stays that serve no access by themselves, and neither take over nor hand on a place at
  a back edge: nothing depends on them (``sets``).
- Choices that another is as good as: it serves the same accesses, copies no more, and
  fits wherever the other fits (``dominance``).
- Combinations of some choices that take too much of what is shared, or too long: those
  of the other buffers only add to that (``combinations``).

What is not looked at: prefetches in slices, three stays of one buffer at one time, and
cross-program prefetches of inputs that are not meant for it, unless asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hybridalloc.baselines.brute_force.choices import choices
from hybridalloc.baselines.brute_force.costs import ROUNDING
from hybridalloc.baselines.brute_force.placement import Placement
from hybridalloc.baselines.brute_force.search import Search
from hybridalloc.memory_map import MemoryMap
from hybridalloc.pins import is_pinned, pinned
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
        if not self._is_tiny(problem):
            return UNANSWERED if pinned(problem.program) else Outcome(MemoryMap())
        search = Search(problem, run)
        if not pinned(problem.program):
            search.best.offer(MemoryMap())
        finished = self._finishes(search, problem, run)
        best = search.best.map
        proven = finished and problem.target.copy_engine.max_slices == 1
        if best is None:
            why = _shortage(problem, search.placement)
            if why is None and not (proven and self._is_hopeless(problem, run)):
                return UNANSWERED
            return Outcome(None, Status.INFEASIBLE, infeasibility=why)
        if not proven or _is_beaten(search, run):
            return Outcome(best)
        return Outcome(best, Status.OPTIMAL, search.best.seconds)

    def _is_hopeless(self, problem: Problem, run: Run) -> bool:
        """Whether there is no valid map even if any input is fetched beforehand."""
        if self.config.any_input:
            return True
        lenient = BruteForce(replace(self.config, any_input=True))
        quiet = replace(run, report=lambda _: None)
        return lenient.solve(problem, quiet).status is Status.INFEASIBLE

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
    return search.best.seconds > seconds * (1 + ROUNDING)


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
