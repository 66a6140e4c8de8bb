"""Neighbours of a plan: random small changes, ruin and recreate among them.

Each takes a few stays out and places others where they fit then, by the plan's own
means; so what results is valid. How good it is, is for the caller to find out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from random import Random

import numpy as np

from hybridalloc.allocating import allocate
from hybridalloc.baselines.edits import Edits
from hybridalloc.baselines.moves import MOST_DISPLACED, Candidate
from hybridalloc.baselines.placed import Placed
from hybridalloc.pins import pinned
from hybridalloc.ranges import require_within
from hybridalloc.stays import Stay, cross_program_stays


@dataclass(frozen=True, slots=True)
class NeighbourConfig:
    """How often each change is tried, and how far it goes."""

    displace: float = 4.0
    """Weight of placing a stay where those in the way are worth least."""
    ruin: float = 1.0
    """Weight of taking out stays around an instruction and placing others there."""
    resize: float = 1.0
    """Weight of placing another stay instead of one of the same buffer."""
    reissue: float = 0.5
    """Weight of issuing a prefetch at another point."""
    remove: float = 0.25
    """Weight of taking out a stay, for others to be placed."""
    cross_program: float = 0.25
    """Weight of another cross-program prefetch."""
    targeted: float = 0.5
    """The share of those stays that are looked for where time is lost."""
    draws: int = 12
    """Candidates drawn for one to be displaced for; the best is taken."""
    most_ruined: int = 6
    """Stays around an instruction that are taken out at a time."""
    window: int = 12
    """Candidates before and after an instruction that count as around it."""
    fillers: int = 6
    """Candidates around it that are tried in the room that is left."""

    def __post_init__(self) -> None:
        require_within("displace", self.displace, 0)
        require_within("ruin", self.ruin, 0)
        require_within("resize", self.resize, 0)
        require_within("reissue", self.reissue, 0)
        require_within("remove", self.remove, 0)
        require_within("cross_program", self.cross_program, 0)
        require_within("targeted", self.targeted, 0, 1)
        require_within("draws", self.draws, 1)
        require_within("most_ruined", self.most_ruined, 1)
        require_within("window", self.window, 0)
        require_within("fillers", self.fillers, 0)


class Neighbours:
    """Changes a plan at random, in the manner of the plan's own ``Moves``."""

    def __init__(
        self,
        edits: Edits,
        candidates: Sequence[Candidate],
        untouched: Set[int],
        config: NeighbourConfig,
        random: Random,
    ) -> None:
        self._edits = edits
        self._plan = edits.plan
        self._config = config
        self._random = random
        program = self._plan.program
        self._untouched = {*pinned(program), *untouched}
        in_order = sorted(candidates, key=lambda x: (x.stay.start, x.stay.end))
        self._candidates = [x for x in in_order if self._may_touch(x.stay)]
        self._starts = [x.stay.start for x in self._candidates]
        self._of_buffer: dict[int, list[Candidate]] = defaultdict(list)
        for candidate in self._candidates:
            self._of_buffer[candidate.stay.buffer].append(candidate)
        some = self._plan.problem.target.cross_program_prefetches
        stays = (
            cross_program_stays(self._plan.problem, self._plan.loops) if some else []
        )
        self._cross_programs = [stay for stay in stays if self._may_touch(stay)]
        self._changes: dict[Callable[[], None], float] = {}
        if self._candidates:
            self._changes[self._displace] = config.displace
            self._changes[self._ruin] = config.ruin
            self._changes[self._resize] = config.resize
            self._changes[self._reissue] = config.reissue
            self._changes[self._remove] = config.remove
        if self._cross_programs:
            self._changes[self._change_cross_program] = config.cross_program

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to change."""
        return not any(self._changes.values())

    def change(self) -> None:
        """Edit the plan; it may happen that nothing comes of it."""
        kinds, weights = list(self._changes), list(self._changes.values())
        self._random.choices(kinds, weights)[0]()

    def _may_touch(self, stay: Stay) -> bool:
        return stay.buffer not in self._untouched

    def _displace(self) -> None:
        """Place a stay that is not in, and what had to give way elsewhere."""
        among: Sequence[Candidate] = self._candidates
        if self._random.random() < self._config.targeted:
            among = self._wanted()
        if not among:
            return
        drawn = self._random.choices(among, k=self._config.draws)
        chosen = max(drawn, key=self._worth)
        if self._worth(chosen) > 0:
            self._put_instead(chosen.stay, self._near(chosen.stay.start))

    def _wanted(self) -> list[Candidate]:
        """Those that serve an instruction; likely one that loses much time."""
        timing = self._plan.timing
        lost = np.maximum(0.0, timing.elapsed - timing.most_idle) * timing.runs
        sums = np.cumsum(lost)
        drawn = self._random.random() * float(sums[-1])
        t = min(int(np.searchsorted(sums, drawn, side="right")), len(sums) - 1)
        return [
            x
            for access in self._plan.program.instructions[t].accesses
            for x in self._of_buffer.get(access.buffer, ())
            if x.stay.start <= t < x.stay.end
        ]

    def _worth(self, candidate: Candidate) -> float:
        return self._plan.saving(candidate.stay) / candidate.cost

    def _resize(self) -> None:
        """Place a longer, a shorter or another stay where one is."""
        placed = self._any_placed()
        if placed is None or placed.is_cross_program:
            return
        stay = placed.stay
        others = [
            x.stay
            for x in self._of_buffer[stay.buffer]
            if x.stay.first <= stay.last and stay.first <= x.stay.last
        ]
        if others:
            other = self._random.choice(others)
            self._put_instead(other, self._near(other.start))

    def _put_instead(self, stay: Stay, fillers: Iterable[Candidate]) -> None:
        """Place a stay instead of what overlaps it or is in its way."""
        plan, buffer = self._plan, self._plan.program.buffers[stay.buffer]
        out = plan.overlapping(stay)
        for placed in out:
            self._edits.take_out(placed)
        in_way = plan.space.cheapest(buffer, [plan.likely_span(stay)])
        if not self._take_out(in_way) or not self._edits.place(stay, may_stall=True):
            self._edits.undo()
            return
        self._place_again([*out, *in_way])
        self._fill(fillers)

    def _take_out(self, placed: Sequence[Placed]) -> bool:
        """Take out these, unless they are too many or must stay."""
        if len(placed) > MOST_DISPLACED:
            return False
        if not all(self._may_touch(x.stay) for x in placed):
            return False
        for one in placed:
            self._edits.take_out(one)
        return True

    def _place_again(self, out: Sequence[Placed]) -> None:
        """Place what was taken out wherever it fits now, or a part of it."""
        for placed in sorted(out, key=lambda x: -x.value * self._random.random()):
            stay = placed.stay
            if self._plan.overlapping(stay):
                continue
            if placed.is_cross_program:
                self._edits.place_cross_program(stay)
            elif not self._edits.place(stay, may_stall=self._random.random() < 0.5):
                self._place_part(stay)

    def _place_part(self, stay: Stay) -> None:
        parts = [
            x.stay
            for x in self._of_buffer[stay.buffer]
            if stay.first <= x.stay.first and x.stay.last <= stay.last
        ]
        if parts:
            self._edits.place(self._random.choice(parts), may_stall=True)

    def _near(self, start: int) -> Sequence[Candidate]:
        """Some candidates that begin around an instruction."""
        at, window = bisect_left(self._starts, start), self._config.window
        near = self._candidates[max(0, at - window) : at + window]
        return self._random.sample(near, min(len(near), self._config.fillers))

    def _fill(self, candidates: Iterable[Candidate]) -> None:
        """Place candidates where there is room, the best first."""
        for one in sorted(candidates, key=lambda x: -self._worth(x)):
            if self._plan.overlapping(one.stay) or self._worth(one) <= 0:
                continue
            self._edits.place(one.stay, may_stall=False)

    def _ruin(self) -> None:
        """Take out stays around an instruction and place others, or them again."""
        centre = self._random.choice(self._candidates).stay.start
        around = [
            x
            for x in self._edits.tables.between(centre, centre + 1)
            if self._may_touch(x.stay) and not x.is_cross_program
        ]
        count = self._random.randint(1, self._config.most_ruined)
        out = self._random.sample(around, min(len(around), count))
        for placed in out:
            self._edits.take_out(placed)
        self._fill(self._near(centre))
        self._place_again(out)

    def _any_placed(self) -> Placed | None:
        placed = self._edits.tables.owner(self._random.random())
        return placed if placed and self._may_touch(placed.stay) else None

    def _remove(self) -> None:
        """Take out a stay; half the time, place others where there is room then."""
        if placed := self._any_placed():
            self._edits.take_out(placed)
            if self._random.random() < 0.5:
                self._fill(self._near(placed.stay.start))

    def _reissue(self) -> None:
        """Issue a prefetch earlier or later."""
        placed = self._any_placed()
        if placed is None or placed.is_cross_program or placed.stay.produced:
            return
        plan, stay, old = self._plan, placed.stay, placed.allocations[0]
        self._edits.take_out(placed)
        issue = self._other_issue(stay, old.start)
        span, offset = (issue, old.end), None
        if issue >= 0:
            offset = plan.space.best_fit(plan.program.buffers[stay.buffer], [span])
        if offset is None:
            self._edits.undo()
            return
        new = allocate(stay, offset, span, eviction=old.eviction)
        claims, stall = plan.engine.bill(stay, new)
        self._edits.put(Placed(stay, (new,), placed.value, claims, stall))

    def _other_issue(self, stay: Stay, old: int) -> int:
        """A legal point for its prefetch, -1 if what is drawn is none.

        Drawn from as far before the old point as it is before the first use, and a
        window more, up to that use: earlier is as likely as later.
        """
        plan = self._plan
        earliest, _ = plan.limits(stay)
        earliest = max(earliest, old - (stay.start - old) - self._config.window)
        if earliest > stay.start:
            return -1
        issue = self._random.randint(earliest, stay.start)
        issue = plan.loops.outside_before(issue, stay.body)
        legal = issue >= earliest and plan.engine.may_fetch(issue, stay.start)
        return issue if legal else -1

    def _change_cross_program(self) -> None:
        """Choose another cross-program prefetch instead of one there is."""
        plan, stay = self._plan, self._random.choice(self._cross_programs)
        present = [x for x in self._edits.tables.between(0, 1) if x.is_cross_program]
        out = plan.overlapping(stay)
        most = plan.problem.target.cross_program_prefetches
        left = [x for x in present if x not in out]
        if len(left) >= most:
            out.append(self._random.choice(left))
        if not self._take_out(out):
            return
        buffer = plan.program.buffers[stay.buffer]
        in_way = plan.space.cheapest(buffer, plan.cross_program_spans(stay))
        if self._take_out(in_way) and self._edits.place_cross_program(stay):
            self._place_again(in_way)
        else:
            self._edits.undo()
