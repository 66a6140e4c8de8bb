"""What the records of a benchmark say: measurements, section by section."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hybridalloc.benchmarking.records import Ending, TrialRecord
from hybridalloc.benchmarking.trials import ProgramCase
from hybridalloc.report.records import Record
from hybridalloc.solver import PROOF_TOLERANCE, gap

BEST = "best of all"
"""What stands for the best strategy of each program."""
XLA = "XLA's answer"
"""What stands for the compiler's own answer, where the inputs carry it."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One strategy on one program with one seed, all times in seconds."""

    program: str
    family: str
    instructions: int
    strategy: str
    seed: int
    time_s: float | None
    """The simulated time of its map; ``None`` without one."""
    slow_s: float
    """With everything in slow memory."""
    xla_s: float | None
    """Of the compiler's own answer."""
    bound_s: float | None
    """The largest lower bound that is proven for the program, by whomever."""
    own_bound_s: float | None
    """The one that the strategy proved itself."""
    runtime_s: float | None
    """Of the search; ``None`` for what is not one strategy's."""
    peak_bytes: int | None
    moved_bytes: int | None
    history: tuple[tuple[float, float, str], ...] = ()
    """Of each better map: seconds of search, its time, what found it."""
    vs_start: Mapping[str, float] | None = None
    """Of a robust search: how many times faster than its start, by cost model."""

    @property
    def vs_slow(self) -> float | None:
        """How many times faster than all-slow."""
        return _ratio(self.slow_s, self.time_s)

    @property
    def vs_xla(self) -> float | None:
        """How many times faster than the compiler's own answer."""
        return _ratio(self.xla_s, self.time_s)

    @property
    def gap(self) -> float | None:
        """Time over the best bound, less 1."""
        return gap(self.time_s, self.bound_s)

    @property
    def own_gap(self) -> float | None:
        """Time over the strategy's own bound, less 1."""
        return gap(self.time_s, self.own_bound_s)

    @property
    def refuted(self) -> bool:
        """Whether the time is below the bound: one of the two is wrong."""
        if self.time_s is None or self.bound_s is None:
            return False
        return self.time_s * (1 + PROOF_TOLERANCE) < self.bound_s


@dataclass(frozen=True, slots=True)
class Conditions:
    """What the measurements of a section have in common."""

    cost_model: str
    time_limit_s: float
    target: str
    capacity_bytes: int
    workers: int
    robust: bool


@dataclass(frozen=True, slots=True)
class Section:
    """Measurements under the same conditions, ordered by program."""

    conditions: Conditions
    measurements: tuple[Measurement, ...]

    @property
    def strategies(self) -> tuple[str, ...]:
        """In the order of their names."""
        return tuple(sorted({x.strategy for x in self.measurements}))

    @property
    def programs(self) -> tuple[str, ...]:
        """By number of instructions."""
        sizes = {x.program: x.instructions for x in self.measurements}
        return tuple(sorted(sizes, key=lambda name: (sizes[name], name)))

    @property
    def reference(self) -> str:
        """What speed-ups are over: XLA's answer, or all-slow where no input has one."""
        return "XLA" if self._has_xla else "all-slow"

    def speedup(self, measured: Measurement) -> float | None:
        """How many times faster than the reference."""
        return measured.vs_xla if self._has_xla else measured.vs_slow

    def of(self, strategy: str) -> tuple[Measurement, ...]:
        """What one strategy did; for ``BEST`` and ``XLA``, what these stand for."""
        if strategy == BEST:
            return self._best()
        if strategy == XLA:
            return self._xla()
        return tuple(x for x in self.measurements if x.strategy == strategy)

    @property
    def _has_xla(self) -> bool:
        return any(x.xla_s is not None for x in self.measurements)

    def _best(self) -> tuple[Measurement, ...]:
        least: dict[tuple[str, int], tuple[float, Measurement]] = {}
        for each in self.measurements:
            case, time_s = (each.program, each.seed), each.time_s
            if time_s is not None and (case not in least or time_s < least[case][0]):
                least[case] = time_s, each
        best = (replace(x, strategy=BEST, runtime_s=None) for _, x in least.values())
        return tuple(best)

    def _xla(self) -> tuple[Measurement, ...]:
        carried = {
            x.program: replace(
                x,
                strategy=XLA,
                time_s=x.xla_s,
                own_bound_s=None,
                runtime_s=None,
                peak_bytes=None,
                moved_bytes=None,
                history=(),
                vs_start=None,
            )
            for x in self.measurements
            if x.xla_s is not None
        }
        return tuple(carried.values())


def known(values: Iterable[float | None]) -> list[float]:
    """The values that there are."""
    return [value for value in values if value is not None]


def sections(records: Sequence[TrialRecord]) -> tuple[Section, ...]:
    """All measurements, by their conditions."""
    done = [x for x in records if x.facts.ending is Ending.DONE]
    bounds = best_bounds(done)
    names = _labels(done)
    grouped: dict[Conditions, list[Measurement]] = defaultdict(list)
    for record in done:
        if (answer := record.answer) is not None:
            name = names[record.trial.name, record.trial.digest]
            bound_s = bounds.get(record.trial.case)
            conditions = _conditions(record, answer)
            grouped[conditions].append(_measurement(name, record, answer, bound_s))
    order = sorted(grouped, key=_order)
    return tuple(Section(x, tuple(grouped[x])) for x in order)


def best_bounds(records: Iterable[TrialRecord]) -> dict[ProgramCase, float]:
    """The largest bound that a trial proved of each program, in seconds."""
    best: dict[ProgramCase, float] = {}
    for record in records:
        proven = [record.facts.proven_s, record.answer and record.answer.bound_s]
        for seconds in proven:
            if seconds:
                case = record.trial.case
                best[case] = max(seconds, best.get(case, 0.0))
    return best


def _labels(records: Iterable[TrialRecord]) -> Mapping[tuple[str, str], str]:
    """What to call each program: its name; with its digest where two share that."""
    digests: dict[str, set[str]] = defaultdict(set)
    for record in records:
        digests[record.trial.name].add(record.trial.digest)
    return {
        (name, digest): name if len(several) == 1 else f"{name} ({digest[:6]})"
        for name, several in digests.items()
        for digest in several
    }


def _conditions(record: TrialRecord, answer: Record) -> Conditions:
    trial = record.trial
    return Conditions(
        cost_model=answer.cost_model,
        time_limit_s=trial.time_limit_s,
        target=answer.target,
        capacity_bytes=answer.capacity_bytes,
        workers=trial.workers,
        robust=trial.robust,
    )


def _order(conditions: Conditions) -> tuple[object, ...]:
    """Roofline first, the longest time first."""
    return (
        conditions.cost_model != "roofline",
        conditions.target,
        -conditions.capacity_bytes,
        -conditions.time_limit_s,
        conditions.workers,
        conditions.robust,
    )


def _measurement(
    name: str, record: TrialRecord, answer: Record, bound_s: float | None
) -> Measurement:
    facts = record.facts
    return Measurement(
        program=name,
        family=facts.family,
        instructions=facts.instructions or 0,
        strategy=record.trial.strategy,
        seed=record.trial.seed,
        time_s=answer.time_s,
        slow_s=answer.slow_s,
        xla_s=answer.xla_s,
        bound_s=bound_s,
        own_bound_s=answer.bound_s or None,
        runtime_s=answer.runtime_s,
        peak_bytes=answer.peak_bytes,
        moved_bytes=answer.moved_bytes,
        history=facts.history,
        vs_start=answer.speedups_vs_start,
    )


def _ratio(reference: float | None, time_s: float | None) -> float | None:
    if not reference or not time_s:
        return None
    return reference / time_s
