"""Records of answers: what ``solve --json`` prints, and the means of many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

from hybridalloc.checker import check
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import CostModel, Problem
from hybridalloc.solver import Infeasibility, Result, Status


@dataclass(frozen=True, slots=True)
class References:
    """What an answer is compared with."""

    slow_s: float
    """The time with everything in slow memory, in seconds."""
    slow_valid: bool
    """Whether that is a valid map: not where something must be in fast memory."""
    xla_s: float | None
    """The time of the compiler's own answer; ``None`` if the input carries none, or if
    it is not valid for this target and capacity."""

    @property
    def least_valid_s(self) -> float:
        """The least time of them that are valid maps; infinite if none is."""
        slow_s = self.slow_s if self.slow_valid else math.inf
        return slow_s if self.xla_s is None else min(slow_s, self.xla_s)


def reference_times(problem: Problem) -> References:
    """Simulate all-slow and the compiler's own answer.

    Raises:
        UsageError: The time of all-slow is not finite.
    """
    from hybridalloc.simulator import Simulator  # loads the compiler of its loops

    simulator = Simulator(problem)
    simulator.require_finite()
    answer = problem.compiler_map
    valid = answer is not None and not check(problem, answer)
    xla_s = simulator.simulate(answer).time_s if answer and valid else None
    slow_valid = not check(problem, MemoryMap())
    return References(simulator.slow_s, slow_valid, xla_s)


@dataclass(frozen=True, slots=True)
class Record:
    """An answer in figures; the fields are the keys of ``solve --json``."""

    input: str
    strategy: str
    target: str
    cost_model: str
    capacity_bytes: int
    status: str
    valid: bool | None
    """Whether the map passed the checker; ``None`` without a map."""
    time_s: float | None
    bound_s: float | None
    gap: float | None
    slow_s: float
    xla_s: float | None
    speedup_vs_slow: float | None
    speedup_vs_xla: float | None
    peak_bytes: int | None
    fragmentation: float | None
    """The part of the peak that allocations never hold at one time."""
    moved_bytes: int | None
    stall_s: float | None
    runtime_s: float
    seed: int
    times_s: Mapping[str, float] | None = None
    """Of a robust search, the seconds under each cost model."""
    speedups_vs_start: Mapping[str, float] | None = None
    """With these, the warm start's seconds under each over them."""
    infeasibility: Infeasibility | None = None

    @property
    def answered(self) -> bool:
        """Whether there is a map."""
        return self.status in (Status.OPTIMAL, Status.FEASIBLE)

    def as_json(self) -> dict[str, object]:
        """The record for JSON; ``infeasibility`` only where there is one."""
        values = {name: finite(value) for name, value in asdict(self).items()}
        if self.infeasibility is None:
            del values["infeasibility"]
        return values


def record(
    name: str, problem: Problem, result: Result, references: References
) -> Record:
    """What an answer comes to.

    Args:
        name: What to call the input.
        problem: What was solved.
        result: The answer.
        references: What it is compared with, of the same problem.
    """
    metrics = result.metrics
    return Record(
        input=name,
        strategy=result.strategy,
        target=problem.target.name,
        cost_model=problem.cost_model.value,
        capacity_bytes=problem.target.capacity,
        status=result.status.value,
        valid=None if result.map is None else True,
        time_s=result.time,
        bound_s=result.bound,
        gap=result.gap,
        slow_s=references.slow_s,
        xla_s=references.xla_s,
        speedup_vs_slow=_speedup(references.slow_s, result.time),
        speedup_vs_xla=_speedup(references.xla_s, result.time),
        peak_bytes=metrics.peak_bytes if metrics else None,
        fragmentation=metrics.fragmentation if metrics else None,
        moved_bytes=metrics.moved_bytes if metrics else None,
        stall_s=metrics.stall_s if metrics else None,
        runtime_s=result.runtime,
        seed=result.seed,
        times_s=result.times_s,
        speedups_vs_start=result.speedups_vs_start,
        infeasibility=result.infeasibility,
    )


@dataclass(frozen=True, slots=True)
class Mean:
    """Geometric means of a strategy at one capacity, over all inputs."""

    strategy: str
    capacity_bytes: int
    speedup_vs_slow: float | None
    speedup_vs_xla: float | None
    inputs: int
    """How many have a speed-up against all-slow."""
    inputs_vs_xla: int
    """How many have one against the compiler's own answer."""
    gap: float | None
    """Of time over lower bound, less 1."""
    inputs_with_gap: int
    """How many have a gap."""
    speedups_vs_start: Mapping[str, float] | None = None
    """Under each cost model, of robust searches."""


def means(records: Sequence[Record]) -> tuple[Mean, ...]:
    """The means of each strategy and capacity, in the order in which they appear."""

    def key(row: Record) -> tuple[str, int]:
        return row.strategy, row.capacity_bytes

    order = {pair: None for pair in map(key, records)}
    rank = {pair: position for position, pair in enumerate(order)}
    rows = sorted(records, key=lambda row: rank[key(row)])
    return tuple(_mean(*pair, list(group)) for pair, group in groupby(rows, key))


def _mean(strategy: str, capacity: int, rows: list[Record]) -> Mean:
    vs_slow = [row.speedup_vs_slow for row in rows if row.speedup_vs_slow]
    vs_xla = [row.speedup_vs_xla for row in rows if row.speedup_vs_xla]
    gaps = [1 + x for row in rows if (x := row.gap) is not None and math.isfinite(x)]
    above = geometric_mean(gaps)
    return Mean(
        strategy,
        capacity,
        geometric_mean(vs_slow),
        geometric_mean(vs_xla),
        len(vs_slow),
        len(vs_xla),
        None if above is None else above - 1,
        len(gaps),
        _mean_speedups(rows),
    )


def _mean_speedups(rows: list[Record]) -> dict[str, float] | None:
    robust = [row.speedups_vs_start for row in rows if row.speedups_vs_start]
    if not robust:
        return None
    means = {
        model.value: geometric_mean(x[model] for x in robust if model in x)
        for model in CostModel
    }
    return {model: mean for model, mean in means.items() if mean is not None}


def geometric_mean(values: Iterable[float]) -> float | None:
    """The geometric mean of positive numbers; ``None`` of none.

    >>> geometric_mean([1.0, 4.0])
    2.0
    """
    logarithms = [math.log(value) for value in values]
    if not logarithms:
        return None
    return math.exp(math.fsum(logarithms) / len(logarithms))


def finite(value: object) -> object:
    """The value, or ``None`` for a number that JSON cannot hold."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _speedup(reference: float | None, time: float | None) -> float | None:
    if reference is None or time is None or time == 0:
        return None
    return reference / time
