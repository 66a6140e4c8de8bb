"""Prices of fast memory and of its copy engine, at which what is chosen fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from hybridalloc.arrays import Floats, Ints
from hybridalloc.baselines.moves import until_expired
from hybridalloc.baselines.plan import Plan
from hybridalloc.pins import free
from hybridalloc.solver import Run
from hybridalloc.stays import Stay

FIRST_PRICE = 0.5
"""A second of the copy engine costs so many seconds at first."""
LEAST = 1e-3
"""No price and no credit falls below this share of the first one."""
NEGLIGIBLE = 1e-12
"""Nothing costs less than this share of the run time."""
MOST = 2.0
"""What is chosen counts as at most this much more than what fits."""


@dataclass(frozen=True, slots=True)
class Stays:
    """The stays to choose from, as arrays; accesses are counted through all buffers.

    All seconds are those of one run.
    """

    size: Floats
    """(stays,): bytes."""
    spans: Ints
    """(3, 2, stays): first points and ends: in fast memory, of its prefetch, and of its
    eviction, as they are likely to be."""
    load: Floats
    """(2, stays): the share of the copy engine's time in these spans that a prefetch
    and an eviction take."""
    stall: Floats
    """(stays,): seconds for which the program waits for its copies even so."""
    first: Ints
    """(stays,): its first access."""
    last: Ints
    """(stays,): its last access."""
    by_last: Ints
    """(stays,): all of them, in the order of their last accesses."""

    @staticmethod
    def of(plan: Plan, stays: Sequence[Stay], run: Run) -> Stays:
        """Those that there is time for, as the engine of a plan expects copies."""
        program, engine = plan.program, plan.engine
        base = [0, *accumulate(map(len, program.uses))]
        rows = []
        for x in until_expired(run, stays):
            start, end = plan.likely_span(x)
            fetch = 0.0 if x.produced else engine.work(x)
            evict = engine.work(x, evicted=True) if x.evicts else 0.0
            size, at = program.buffers[x.buffer].size, base[x.buffer]
            points = (start, end, start, x.start, x.issue if x.evicts else end, end)
            rows.append((*points, at + x.first, at + x.last, size, fetch, evict))
        columns = np.array(rows, np.float64).reshape(-1, 11).T
        spans = columns[:6].astype(np.int64).reshape(3, 2, len(rows))
        time = engine.clock[spans[1:, 1]] - engine.clock[spans[1:, 0]]
        work, last = columns[9:], columns[7].astype(np.int64)
        return Stays(
            size=columns[8],
            spans=spans,
            load=np.divide(work, time, out=np.sign(work), where=work < time),
            stall=np.maximum(0.0, work - time).sum(axis=0),
            first=columns[6].astype(np.int64),
            last=last,
            by_last=np.argsort(last, kind="stable"),
        )


class Prices:
    """What fast memory and copies cost, and what each access is credited with."""

    def __init__(self, plan: Plan, stays: Stays) -> None:
        """Begin with prices in proportion to time.

        Args:
            plan: What is pinned.
            stays: To choose from; as many or fewer than there are.
        """
        program, timing = plan.program, plan.timing
        self._stays = stays
        self._capacity = plan.problem.target.capacity
        candidates = {*free(plan.problem)}
        uses = [(b, use.instruction) for b, x in enumerate(program.uses) for use in x]
        savings = [timing.saving(b, [t]) if b in candidates else 0.0 for b, t in uses]
        self._saving: Floats = np.maximum(0.0, np.array(savings))
        self._instruction: Ints = np.array([t for _, t in uses], np.int64)
        seconds = timing.elapsed * timing.runs
        self._most = np.maximum(0.0, seconds - timing.most_idle * timing.runs)
        total = float(seconds.sum()) or 1.0
        worth = float(self._most.sum()) / (total * self._capacity)
        self._first_prices = np.stack(
            (
                worth * (seconds + LEAST * total / len(program)),
                FIRST_PRICE * np.diff(plan.engine.clock),
                np.ones(len(program)),
            )
        )
        self._prices: Floats = self._first_prices.copy()
        self._negligible = NEGLIGIBLE * total
        self._steps = 0
        self.chosen: Floats = np.zeros(len(stays.size))
        """(stays,): the share of the latest steps in which each was chosen."""
        self.cost: Floats = self._costs() + self._negligible
        """(stays,): what each cost in them, on average, in seconds of one run."""

    def improve(self, steps: int, step: float, run: Run) -> None:
        """Let prices rise where more is chosen than fits, and fall where less is.

        Args:
            steps: How often.
            step: How much a price changes at first where twice as much is chosen as
                fits, as a share.
            run: Ends it early at the deadline.
        """
        counts, costs, done = np.zeros_like(self.chosen), np.zeros_like(self.cost), 0
        while done < steps and not run.expired:
            cost = self._costs()
            value = self._values() - cost
            chosen = self._choose(value)
            self._steps += 1
            self._change(chosen, step / self._steps**0.5)
            counts += chosen
            costs += cost
            done += 1
        if done:
            self.chosen, self.cost = counts / done, costs / done + self._negligible

    def _costs(self) -> Floats:
        """(stays,): what each costs at the present prices."""
        stays = self._stays
        sums = np.zeros((2, self._prices.shape[1] + 1))
        np.cumsum(self._prices[:2], axis=1, out=sums[:, 1:])
        memory = sums[0][stays.spans[0, 1]] - sums[0][stays.spans[0, 0]]
        copies = sums[1][stays.spans[1:, 1]] - sums[1][stays.spans[1:, 0]]
        cost: Floats = stays.size * memory + (stays.load * copies).sum(axis=0)
        return cost + stays.stall

    def _values(self) -> Floats:
        """(stays,): what the accesses of each are credited with."""
        credit = self._prices[2][self._instruction] * self._saving
        sums = np.concatenate(([0.0], np.cumsum(credit)))
        return sums[self._stays.last + 1] - sums[self._stays.first]

    def _choose(self, value: Floats) -> NDArray[np.bool_]:
        """(stays,): those of most value that share no access, by dynamic programming.

        ``best[n]`` is the most value of stays among the first n accesses.
        """
        stays = self._stays
        order = stays.by_last[value[stays.by_last] > 0]
        count = len(self._saving)
        best, taken, n = [0.0] * (count + 1), [-1] * (count + 1), 0
        columns = (order, stays.first[order], stays.last[order], value[order])
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for i, first, last, worth in rows:
            while n <= last:
                best[n + 1] = best[n]
                n += 1
            if best[first] + worth > best[n]:
                best[n], taken[n] = best[first] + worth, i
        chosen = np.zeros(len(value), np.bool_)
        while n > 0:
            i = taken[n]
            n = n - 1 if i < 0 else int(stays.first[i])
            chosen[i] |= i >= 0
        return chosen

    def _change(self, chosen: NDArray[np.bool_], step: float) -> None:
        """Raise and lower the prices and credits."""
        stays, points = self._stays, self._prices.shape[1]
        at = np.flatnonzero(chosen)
        load = stays.load[:, at]
        used = _occupied(stays.spans[0][:, at], stays.size[at], points)
        used /= self._capacity
        copied = _occupied(stays.spans[1][:, at], load[0], points)
        copied += _occupied(stays.spans[2][:, at], load[1], points)
        served = np.zeros(len(self._saving) + 1)
        np.add.at(served, stays.first[at], 1.0)
        np.add.at(served, stays.last[at] + 1, -1.0)
        credited = np.cumsum(served)[:-1] * self._saving
        saved = np.bincount(self._instruction, credited, points)
        share = np.divide(saved, self._most, out=np.zeros(points), where=self._most > 0)
        excess = np.stack((used - 1.0, copied - 1.0, 1.0 - share))
        self._prices *= np.exp(step * np.clip(excess, -MOST, MOST))
        np.maximum(self._prices, LEAST * self._first_prices, out=self._prices)
        np.minimum(self._prices[2], 1.0, out=self._prices[2])


def _occupied(spans: Ints, amount: Floats, points: int) -> Floats:
    """(T,): the sum of the amounts whose span, of (2, spans), covers an instruction."""
    sums = np.zeros(points + 1)
    np.add.at(sums, spans[0], amount)
    np.add.at(sums, spans[1], -amount)
    return np.cumsum(sums)[:-1]
