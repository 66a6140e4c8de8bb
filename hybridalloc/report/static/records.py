"""Records of answers to static problems: what ``solve --json`` prints."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from hybridalloc.report.records import Record
from hybridalloc.static.proofs import StaticInfeasibility
from hybridalloc.static.result import StaticResult


@dataclass(frozen=True, slots=True)
class StaticRecord:
    """An answer in figures."""

    input: str
    strategy: str
    capacity_bytes: int | None
    status: str
    valid: bool | None
    """Whether the offsets passed the checker; ``None`` without any."""
    peak_bytes: int | None
    """The capacity reached."""
    bound_bytes: int
    """A capacity that no placement goes below."""
    load_bytes: int
    """The most bytes that are live at one time."""
    load_instant: int
    load_buffers: tuple[str, ...]
    ratio: float | None
    """The capacity reached over the most bytes that are live."""
    runtime_s: float
    seed: int
    found_by: str
    infeasibility: StaticInfeasibility | None

    def as_json(self) -> dict[str, object]:
        """The record for JSON, with the keys of every answer."""
        return {field.name: None for field in fields(Record)} | asdict(self)


def static_record(name: str, result: StaticResult) -> StaticRecord:
    """What an answer comes to.

    Args:
        name: What to call the input.
        result: The answer.
    """
    return StaticRecord(
        input=name,
        strategy=result.strategy,
        capacity_bytes=result.capacity,
        status=result.status.value,
        valid=None if result.offsets is None else True,
        peak_bytes=result.peak_bytes,
        bound_bytes=result.bound_bytes,
        load_bytes=result.load.bytes,
        load_instant=result.load.instant,
        load_buffers=result.load.buffers,
        ratio=result.ratio,
        runtime_s=result.runtime,
        seed=result.seed,
        found_by=result.found_by,
        infeasibility=result.infeasibility,
    )
