"""What instructions take, from below, as linear functions of what is served fast.

``Elapsed(t, S)`` is a maximum of functions that are linear in which accesses are in
``S``, but for two things of the ``cycles`` model (docs/model.md, Time): the case
``m > h``, and further observed placements. Here every function is at most ``Elapsed``
wherever accesses are wholly fast or slow, so the maximum of all is a relaxation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hybridalloc.cost_model import Costs


@dataclass(frozen=True, slots=True)
class Face:
    """``constant + sum(slope * fast)``, in seconds, over accesses that are fast."""

    constant: float
    slopes: dict[int, float]
    """By access, as an index into ``Costs``."""

    @property
    def most(self) -> float:
        """Its greatest value."""
        return self.constant + sum(max(0.0, slope) for slope in self.slopes.values())

    def at(self, fast: frozenset[int]) -> float:
        """Its value where these accesses are fast."""
        return self.constant + sum(self.slopes.get(i, 0.0) for i in fast)


@dataclass(frozen=True, slots=True)
class Observed:
    """A further observed placement, which may take less than the faces say."""

    fast: frozenset[int]
    seconds: float


def faces(costs: Costs, t: int) -> Iterator[Face]:
    """The functions of instruction ``t``, further observations apart.

    In the case ``m > h`` the model jumps from ``h`` to ``m`` with the first access that
    is fast. ``h + (m - h) * fast`` for each access is nowhere above that.
    """
    accesses = range(costs.first_access[t], costs.first_access[t + 1])
    extra, floor = float(costs.extra_s[t]), float(costs.floor_s[t])
    empty, slope = float(costs.empty_s[t]), float(costs.slope_s[t])
    yield Face(float(costs.compute_s[t]) + extra, {})
    yield Face(
        sum(float(costs.slow_s[i]) for i in accesses) + extra,
        {i: float(costs.fast_s[i] - costs.slow_s[i]) for i in accesses},
    )
    yield Face(min(floor, empty), {})
    if floor > empty:
        yield from (Face(empty, {i: floor - empty}) for i in accesses)
    if slope > 0:
        line = float(costs.line_s[t])
        yield Face(line, {i: -slope * float(costs.access_bytes[i]) for i in accesses})


def observed(costs: Costs, t: int) -> Iterator[Observed]:
    """The further observed placements of instruction ``t``."""
    accesses = range(costs.first_access[t], costs.first_access[t + 1])
    for k in range(costs.first_seen[t], costs.first_seen[t + 1]):
        first, last = costs.first_seen_access[k : k + 2]
        fast = frozenset(costs.seen_access[first:last].tolist())
        memory_s = sum(
            float(costs.fast_s[i] if i in fast else costs.slow_s[i]) for i in accesses
        )
        roofline = max(float(costs.compute_s[t]), memory_s)
        yield Observed(fast, max(roofline, float(costs.seen_s[k])))
