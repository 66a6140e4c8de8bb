"""What a trial came to: one JSON file each, so that a benchmark can go on later."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from hybridalloc.benchmarking.trials import Trial
from hybridalloc.errors import InputError
from hybridalloc.io.files import read_text, write_text
from hybridalloc.report.records import Record, finite
from hybridalloc.report.static import StaticRecord

FORMAT = "hybridalloc/trial"
VERSION = 1


class Ending(StrEnum):
    """How a trial ended."""

    DONE = "done"
    """With an answer, be it that there is none."""
    SKIPPED = "skipped"
    """The strategy or the cost model does not apply to the program."""
    FAILED = "failed"
    """An error, a crash, or a map that is not valid."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a trial besides its answer."""

    ending: Ending
    path: str
    """Where the input was read."""
    family: str
    started: str
    """When: ISO 8601, UTC."""
    machine: str
    cores: int
    processes: int
    """How many trials ran at a time, at most."""
    reason: str = ""
    """Why it was skipped, or how it failed."""
    instructions: int | None = None
    buffers: int | None = None
    reading_s: float | None = None
    """Seconds that reading the input took, which are no part of the search."""
    cpu_s: float | None = None
    """CPU seconds of a search for offsets, of all its threads."""
    violations: int | None = None
    """What the checker found in the map; ``None`` without one."""
    mismatches: int | None = None
    """What the execution oracle found in it."""
    proven_s: float | None = None
    """The lower bound of a trial that proves one."""
    history: tuple[tuple[float, float, str], ...] = ()
    """Of each better map: seconds of search, its time in seconds, what found it."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """A trial and what it came to."""

    trial: Trial
    facts: Facts
    answer: Record | None = None
    """What the strategy handed back, if it ended."""
    placement: StaticRecord | None = None
    """The same, of a CSV file of buffers."""

    def as_json(self) -> dict[str, Any]:
        """One object: the answer as of ``solve --json``, the trial and the facts."""
        values = {"format": FORMAT, "format_version": VERSION}
        found = self.answer or self.placement
        answer = {} if found is None else found.as_json()
        return values | answer | asdict(self.trial) | _finite(self.facts)

    @classmethod
    def from_json(cls, values: Any) -> TrialRecord:
        """What ``as_json`` made.

        Raises:
            ValueError: It was not.
        """
        made = values if isinstance(values, dict) else {}
        if (made.get("format"), made.get("format_version")) != (FORMAT, VERSION):
            raise ValueError(f"expected format {FORMAT}, version {VERSION}")
        _require_seconds(made)
        trial = _adapter(Trial).validate_python(values)
        facts = _adapter(Facts).validate_python(values)
        if "time_s" not in values:
            return cls(trial, facts)
        if trial.cost_model is None:
            placement = _adapter(StaticRecord).validate_python(values)
            return cls(trial, facts, placement=placement)
        return cls(trial, facts, _adapter(Record).validate_python(values))


def _require_seconds(values: dict[str, Any]) -> None:
    """Refuse numbers that are not finite, as JSON has none, and negative seconds."""
    json.dumps(values, allow_nan=False)
    for name, value in values.items():
        if name.endswith("_s") and isinstance(value, int | float) and value < 0:
            raise ValueError(f"{name} {value}: expected seconds >= 0")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _finite(facts: Facts) -> dict[str, object]:
    return {name: finite(value) for name, value in asdict(facts).items()}


@dataclass(frozen=True, slots=True)
class RecordFolder:
    """The records of a benchmark."""

    path: Path

    def create(self) -> None:
        """Make sure that it exists, and may be read and written.

        Raises:
            InputError: It cannot be made, or may not.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(self.path, f"cannot make this folder: {error}") from error
        if not os.access(self.path, os.R_OK | os.W_OK | os.X_OK):
            raise InputError(self.path, "expected a folder to read and to write")

    def file(self, trial: Trial) -> Path:
        """Where the record of a trial is, or will be."""
        return self.path / trial.file_name

    def is_settled(self, trial: Trial) -> bool:
        """Whether there is a record of a trial, and not of a failure."""
        record = self._load(self.file(trial))
        if record is None or record.trial != trial:
            return False
        return record.facts.ending is not Ending.FAILED

    def write(self, record: TrialRecord) -> None:
        """Keep a record; it appears complete or not at all."""
        text = json.dumps(record.as_json(), indent=1, allow_nan=False)
        write_text(self.file(record.trial), text + "\n")

    def read(self) -> tuple[TrialRecord, ...]:
        """All records, of one trial by several versions of this package the newest.

        A file that is none is left out with a warning.
        """
        newest: dict[object, TrialRecord] = {}
        for record in sorted(self._all(), key=lambda x: x.facts.started):
            values = asdict(record.trial)
            del values["version"]
            newest[tuple(values.values())] = record
        order = sorted(newest.values(), key=lambda x: (x.trial.name, x.trial.digest))
        return tuple(order)

    def _all(self) -> Iterator[TrialRecord]:
        for path in sorted(self.path.glob("*.json")):
            if (record := self._load(path)) is not None:
                yield record
            else:
                warnings.warn(f"{path}: no record of a trial, left out", stacklevel=3)

    def _load(self, path: Path) -> TrialRecord | None:
        try:
            if not path.exists():
                return None
            return TrialRecord.from_json(json.loads(read_text(path)))
        except (ValidationError, ValueError, RecursionError, InputError, OSError):
            return None
