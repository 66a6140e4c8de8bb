"""The strategy ``belady``: what is used again farthest in the future gives way.

The rule is Belady's MIN (A study of replacement algorithms for a virtual-storage
computer, 1966). With prefetches it becomes that of Cao, Felten, Karlin and Li (A study
of integrated prefetching and caching strategies, 1995): fetch what is used next, in
place of what is used last, and never in place of what is used earlier.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from hybridalloc.baselines.best import best_plan
from hybridalloc.baselines.drop import drop
from hybridalloc.baselines.moves import Moves
from hybridalloc.baselines.placed import Placed
from hybridalloc.baselines.plan import Plan
from hybridalloc.baselines.victims import Rule, Victims
from hybridalloc.loops import Loops
from hybridalloc.pins import free, pinned
from hybridalloc.problem import Problem
from hybridalloc.program import Loop
from hybridalloc.ranges import require_within
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Outcome, Run
from hybridalloc.stays import Lifetime, Stay

LOOKBACK = 256
"""Instructions before an access that are looked at to make room for its prefetch."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One walk through the program; which is best depends on the program."""

    rule: Rule
    hope: float
    """The share of the idle time with everything in fast memory on which copies
    count before it is there."""

    def __post_init__(self) -> None:
        require_within("hope", self.hope, 0, 1)


@dataclass(frozen=True, slots=True)
class BeladyConfig:
    """The walks through the program, and what a copy may cost."""

    passes: tuple[Pass, ...] = (
        Pass(Rule.FARTHEST, hope=0.0),
        Pass(Rule.CHEAPEST, hope=1.0),
        Pass(Rule.CHEAPEST, hope=0.0),
        Pass(Rule.FARTHEST, hope=1.0),
    )
    """The first is Belady's rule and nothing else."""
    patience: float = 0.2
    """The seconds for which the program may wait for a stay's copies, for each second
    that it saves."""
    attempts: int = 3
    """How often room is sought for one stay, after what would not give way."""
    cross_programs: int = 20
    """How many cross-program prefetches to try."""

    def __post_init__(self) -> None:
        require_within("patience", self.patience, 0)
        require_within("attempts", self.attempts, 0)
        require_within("cross_programs", self.cross_programs, 0)


class Belady:
    """Walks through the program and decides at each access; keeps the best walk.

    An iteration is one walk. Deterministic: it ignores the seed and the warm start.
    """

    def __init__(self, config: BeladyConfig | None = None) -> None:
        self.config = config or BeladyConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Build maps that are valid by construction."""
        simulator = Simulator(problem)
        return best_plan(simulator, run, self._plans(problem, simulator, run))

    def _plans(
        self, problem: Problem, simulator: Simulator, run: Run
    ) -> Iterator[Plan]:
        """What is pinned alone; then each walk, plain and without what does harm."""
        loops = Loops(problem.program)
        for number, way in enumerate(self.config.passes[: run.iterations]):
            if run.expired and (number or not pinned(problem.program)):
                return
            plan = Plan(problem, loops)
            if not plan.place_pinned():
                return
            if number == 0:
                yield plan
            if way.hope:
                plan.engine.hope_for(way.hope)
            _Walk(plan, way.rule, self.config).all(run)
            if way.hope:
                plan.engine.hope_for(0.0)
            yield plan
            if run.expired:
                return
            drop(plan, simulator, run)
            Moves(plan, (), run).place_cross_programs(self.config.cross_programs)
            drop(plan, simulator, run)
            yield plan


class _Walk:
    """One walk: stays last until the end of their lives, unless they must give way."""

    def __init__(self, plan: Plan, rule: Rule, config: BeladyConfig) -> None:
        self._plan = plan
        self._victims = Victims(plan, rule)
        self._may_drop = rule is Rule.CHEAPEST
        self._config = config
        self._lifetimes: dict[int, Lifetime] = {}
        self._points = plan.points
        self._present = [placed for group in plan.placed for placed in group]

    def all(self, run: Run) -> None:
        """Decide at every access, up to the deadline."""
        candidates = {*free(self._plan.problem)}
        for t, instruction in enumerate(self._plan.program.instructions):
            for access in instruction.accesses:
                if run.expired:
                    return
                if access.buffer in candidates:
                    self._decide(access.buffer, t, run)

    def _decide(self, buffer: int, t: int, run: Run) -> None:
        """See to it that an access is served from fast memory, if that is worth it."""
        index = bisect_left(self._points[buffer], t)
        placed = self._plan.placed[buffer]
        if any(x.stay.first <= index <= x.stay.last for x in placed):
            return
        for stay in self._stays(buffer, index):
            if run.expired or self._admit(stay, t):
                return

    def _lifetime(self, buffer: int) -> Lifetime:
        """Of a buffer, made once."""
        if buffer not in self._lifetimes:
            loops, program = self._plan.loops, self._plan.program
            self._lifetimes[buffer] = Lifetime(program, loops, buffer)
        return self._lifetimes[buffer]

    def _stays(self, buffer: int, index: int) -> Iterator[Stay]:
        """The stays from an access on: the widest body first, to the last access there.

        If it can stay in none of them that long, to the next access, or for this one.
        """
        points = self._points[buffer]
        around = self._plan.loops.around(points[index])
        runs: list[tuple[int, Loop | None]] = [(len(points) - 1, None)]
        runs += [(bisect_left(points, body.end) - 1, body) for body in around]
        inner = runs[-1][1]
        runs += [(last, inner) for last in (index + 1, index) if last < runs[-1][0]]
        for last, body in runs:
            stay = self._lifetime(buffer).stay(index, last, body)
            if stay and not self._plan.overlapping(stay):
                yield stay

    def _admit(self, stay: Stay, t: int) -> bool:
        """Place a stay, if need be instead of what is used later."""
        if self._plan.saving(stay) <= 0:
            return False
        if placed := self._place(stay):
            self._present.append(placed)
            return True
        firm: set[Placed] = set()
        self._present = [x for x in self._present if _end(x) > t - LOOKBACK]
        for _ in range(self._config.attempts):
            start = min(t, self._plan.likely_span(stay)[0])
            victims = self._victims.choose(stay, (start, t + 1), self._present, firm)
            if not victims:
                return False
            stuck = self._replace(victims, stay)
            if stuck is None:
                return True
            firm.add(stuck)
        return False

    def _place(self, stay: Stay) -> Placed | None:
        """Place a stay where there is room, if its copies are worth the wait."""
        placed = self._plan.place(stay, may_stall=True)
        if placed and placed.stall > self._config.patience * placed.value:
            self._plan.take_out(placed)
            return None
        return placed

    def _replace(self, victims: list[Placed], stay: Stay) -> Placed | None:
        """Place a stay, and end others at their last use before it; or change nothing.

        Returns:
            Who could not give way; ``None`` if all is done.
        """
        plan, before = self._plan, self._plan.total
        for victim in victims:
            plan.take_out(victim)
        new, stuck = self._place_among(victims, stay)
        lost = len(new) <= len(victims)
        if stuck is None and lost and plan.total >= before:
            stuck = victims[0]
        if stuck is None:
            self._present = [x for x in self._present if x not in victims] + new
            return None
        for placed in new:
            plan.take_out(placed)
        for victim in victims:
            plan.put(victim)
        return stuck

    def _place_among(
        self, victims: list[Placed], stay: Stay
    ) -> tuple[list[Placed], Placed | None]:
        """Place a stay, then what is left of others: what is placed, who is not."""
        first = self._place(stay)
        if first is None:
            return [], victims[0]
        new = [first]
        for victim in victims:
            placed = self._plan.place(victim.stay)
            if placed is None:
                shorter = self._shorter(victim.stay, first.allocations[0].start)
                placed = self._plan.place(shorter) if shorter else None
            if placed:
                new.append(placed)
            elif not self._may_drop:
                return new, victim
        return new, None

    def _shorter(self, stay: Stay, point: int) -> Stay | None:
        """The stay up to its last use before a point, if there is any."""
        last = bisect_left(self._points[stay.buffer], point) - 1
        if last < stay.first:
            return None
        return self._lifetime(stay.buffer).stay(stay.first, last, stay.body)


def _end(placed: Placed) -> int:
    """The point at which the place is free again."""
    return placed.allocations[-1].end
