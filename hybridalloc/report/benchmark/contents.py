"""What a report of a benchmark says, in figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from hybridalloc.benchmarking.comparisons import Group, Pair, by_family, by_size, pairs
from hybridalloc.benchmarking.measurements import (
    Conditions,
    Measurement,
    Section,
    sections,
)
from hybridalloc.benchmarking.placements import (
    PlacementSection,
    placement_sections,
)
from hybridalloc.benchmarking.quality import Curve, quality
from hybridalloc.benchmarking.records import Ending, TrialRecord
from hybridalloc.benchmarking.summaries import TOLERANCE, Summary, summaries

FORMAT = "hybridalloc/benchmark"
VERSION = 1


@dataclass(frozen=True, slots=True)
class SectionContents:
    """What is told of measurements under the same conditions."""

    section: Section
    name: str
    """Fit for a file's name; no other section of the report has it."""
    summaries: tuple[Summary, ...]
    pairs: tuple[Pair, ...]
    families: tuple[Group, ...]
    sizes: tuple[Group, ...]
    curves: tuple[Curve, ...]

    @property
    def conditions(self) -> Conditions:
        """Which conditions."""
        return self.section.conditions

    def as_json(self) -> dict[str, Any]:
        """For JSON; the strategies are those that ``speedups`` of groups are of."""
        return {
            **asdict(self.conditions),
            "reference": self.section.reference,
            "strategies": list(self.section.strategies),
            "summaries": [asdict(x) for x in self.summaries],
            "pairs": [asdict(x) for x in self.pairs],
            "families": [asdict(x) for x in self.families],
            "sizes": [asdict(x) for x in self.sizes],
            "quality": [asdict(x) for x in self.curves],
            "measurements": [_measurement(x) for x in self.section.measurements],
        }


@dataclass(frozen=True, slots=True)
class Fault:
    """A trial that failed or did not apply, or two results that contradict."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Contents:
    """All that a report says."""

    sections: tuple[SectionContents, ...]
    placements: tuple[PlacementSection, ...]
    """Of CSV files of buffers."""
    failures: tuple[Fault, ...]
    skipped: tuple[Fault, ...]
    warnings: tuple[Fault, ...]
    tolerance: float
    """The share of XLA's time within which a time counts as the same."""
    missing: int
    """How many trials have not run yet."""
    machines: tuple[str, ...]
    versions: tuple[str, ...]
    """Of this package."""
    first_started: str
    last_started: str
    """When the first and the last trial began: ISO 8601, UTC."""
    cores: int
    processes: int
    seeds: tuple[int, ...]

    @classmethod
    def of(
        cls,
        records: Sequence[TrialRecord],
        *,
        tolerance: float = TOLERANCE,
        missing: int = 0,
    ) -> Contents:
        """What records say; there is at least one."""
        parts = sections(records)
        found = tuple(
            _section(part, name, tolerance)
            for part, name in zip(parts, _names(parts), strict=True)
        )
        facts = [record.facts for record in records]
        started = sorted(x.started for x in facts)
        return cls(
            sections=found,
            placements=placement_sections(records),
            failures=(*_faults(records, Ending.FAILED), *_contradictions(found)),
            skipped=_faults(records, Ending.SKIPPED),
            warnings=_warnings(records),
            tolerance=tolerance,
            missing=missing,
            machines=tuple(sorted({x.machine for x in facts})),
            versions=tuple(sorted({record.trial.version for record in records})),
            first_started=started[0],
            last_started=started[-1],
            cores=max(x.cores for x in facts),
            processes=max(x.processes for x in facts),
            seeds=tuple(sorted(_seeds(records))),
        )

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        values = asdict(replace(self, sections=()))
        values["sections"] = [x.as_json() for x in self.sections]
        return {"format": FORMAT, "version": VERSION, **values}


def _names(parts: Iterable[Section]) -> Iterator[str]:
    """Cost model and limit; with a number where sections share these."""
    taken: Counter[str] = Counter()
    for part in parts:
        name = f"{part.conditions.cost_model}-{part.conditions.time_limit_s:g}s"
        name += "-robust" if part.conditions.robust else ""
        taken[name] += 1
        yield name if taken[name] == 1 else f"{name}-{taken[name]}"


def _section(section: Section, name: str, tolerance: float) -> SectionContents:
    return SectionContents(
        section=section,
        name=name,
        summaries=summaries(section, tolerance),
        pairs=pairs(section),
        families=by_family(section),
        sizes=by_size(section),
        curves=quality(section),
    )


def _measurement(measured: Measurement) -> dict[str, Any]:
    values = asdict(measured)
    for name in ("vs_slow", "vs_xla", "gap", "own_gap"):
        values[name] = getattr(measured, name)
    return values


def _seeds(records: Iterable[TrialRecord]) -> set[int]:
    return {x.trial.seed for x in records if not x.trial.is_bound}


def _what(record: TrialRecord) -> str:
    trial = record.trial
    seed = "" if trial.is_bound else f", seed {trial.seed}"
    return (
        f"{trial.strategy} on {trial.name} ({trial.cost_model or 'static'}, "
        f"{trial.time_limit_s:g} s{seed})"
    )


def _faults(records: Iterable[TrialRecord], ending: Ending) -> tuple[Fault, ...]:
    return tuple(
        Fault(_what(record), record.facts.reason)
        for record in records
        if record.facts.ending is ending
    )


def _warnings(records: Iterable[TrialRecord]) -> tuple[Fault, ...]:
    return tuple(
        Fault(_what(record), text)
        for record in records
        for text in record.facts.warnings
    )


def _contradictions(found: Iterable[SectionContents]) -> tuple[Fault, ...]:
    """Bounds that a map refutes."""
    return tuple(
        Fault(
            f"{x.strategy} on {x.program} ({part.conditions.cost_model})",
            f"its map takes {x.time_s} s, below the lower bound of {x.bound_s} s",
        )
        for part in found
        for x in part.section.measurements
        if x.refuted
    )
