"""What a static problem holds."""

from __future__ import annotations

from dataclasses import dataclass

from hybridalloc.static.load import lower_bound, peak_of
from hybridalloc.static.parts import parts_of
from hybridalloc.static.problem import StaticProblem


@dataclass(frozen=True, slots=True)
class StaticInfo:
    """A description of a static problem; the fields are the keys of ``info --json``."""

    input: str
    capacity_bytes: int | None
    buffers: int
    empty: int
    """Buffers of no bytes or no life, which take no space."""
    fixed: int
    """Buffers with a fixed offset."""
    hinted: int
    gapped: int
    """Buffers with gaps in their lives."""
    start: int
    end: int
    """The instants of all lives are [start, end)."""
    parts: int
    """Stretches of time with nothing live in between."""
    total_bytes: int
    largest_bytes: int
    alignment: int
    """The largest."""
    bound_bytes: int
    """A capacity that no placement goes below."""
    load_bytes: int
    """The most bytes that are live at one time."""
    load_instant: int
    load_buffers: tuple[str, ...]


def describe_static(name: str, problem: StaticProblem) -> StaticInfo:
    """Describe a static problem.

    Args:
        name: What to call it.
        problem: The problem.
    """
    buffers, load = problem.buffers, peak_of(problem.buffers)
    return StaticInfo(
        input=name,
        capacity_bytes=problem.capacity,
        buffers=len(buffers),
        empty=sum(not x.rectangles for x in buffers),
        fixed=sum(x.offset is not None for x in buffers),
        hinted=sum(x.hint is not None for x in buffers),
        gapped=sum(bool(x.gaps) for x in buffers),
        start=min((x.start for x in buffers), default=0),
        end=max((x.end for x in buffers), default=0),
        parts=sum(1 for _ in parts_of(buffers)),
        total_bytes=sum(x.size for x in buffers),
        largest_bytes=max((x.size for x in buffers), default=0),
        alignment=max((x.alignment for x in buffers), default=1),
        bound_bytes=lower_bound(problem),
        load_bytes=load.bytes,
        load_instant=load.instant,
        load_buffers=load.buffers,
    )
