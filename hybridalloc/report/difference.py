"""How two maps differ, in words and tables, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from hybridalloc.report.tables import new_table, title
from hybridalloc.report.units import MISSING, size_text, time_text
from hybridalloc.report.words import left_out, plural, runs_text, signed_time
from hybridalloc.understanding.difference import (
    BufferChange,
    Change,
    Difference,
    InstructionChange,
)
from hybridalloc.understanding.naming import listing

_MOST_NAMED = 3
"""How many buffers to name beside an instruction."""
CHANGES = {
    Change.ONLY_A: ("only A places it", "in A only"),
    Change.ONLY_B: ("only B places it", "in B only"),
    Change.SERVED: ("other accesses", "serving other accesses"),
    Change.TIME: ("other times", "moved in time only"),
    Change.OFFSET: ("other offset", "moved in offset only"),
}
"""What is said of one such buffer, and of a number of them."""


def difference_parts(
    found: Difference, names: tuple[str, str, str], limit: int
) -> Iterator[RenderableType]:
    """What there is to say to people, one part after the other.

    Args:
        found: The figures.
        names: The input and the two maps, as they were given.
        limit: The most rows of the lists of buffers and of instructions.
    """
    input_name, a, b = names
    models = " and ".join(x.cost_model for x in found.times)
    yield title(input_name, found.capacity_bytes, models, found.target)
    yield f"A: {a}"
    yield f"B: {b}"
    yield ""
    yield _figure_table(found)
    yield ""
    yield from _sentences(found)
    if found.buffers:
        yield ""
        yield _buffer_table(found.buffers[:limit])
        yield from left_out(len(found.buffers), limit, "buffers")
    if found.instructions:
        yield ""
        yield _instruction_table(found.instructions[:limit])
        yield from left_out(len(found.instructions), limit, "instructions")


def difference_json(found: Difference) -> dict[str, Any]:
    """All figures, under the names of the fields of ``Difference``."""
    return {**asdict(found), "running_change_s": found.running_change_s}


def _figure_table(found: Difference) -> Table:
    table = new_table([""], ["A", "B", "B - A"])
    for x in found.times:
        change = f"{signed_time(x.change_s)} ({_percent(x.change_s, x.a_s)})"
        times = time_text(x.a_s), time_text(x.b_s)
        table.add_row(f"time, {x.cost_model}", *times, change)
        stalls = time_text(x.a_stall_s), time_text(x.b_stall_s)
        table.add_row("  of it stalls", *stalls, signed_time(x.stall_change_s))
    for label, field in (
        ("peak of fast memory", "peak_bytes"),
        ("moved by copies", "moved_bytes"),
    ):
        one, other = getattr(found.a, field), getattr(found.b, field)
        change = f"{'+' if other > one else ''}{size_text(other - one)}"
        table.add_row(label, size_text(one), size_text(other), change)
    for label in ("buffers", "allocations", "prefetches", "evictions"):
        one, other = getattr(found.a, label), getattr(found.b, label)
        change = f"{other - one:+,}" if one != other else "0"
        table.add_row(label, f"{one:,}", f"{other:,}", change)
    return table


def _percent(change: float, whole: float) -> str:
    return f"{change / whole:+.2%}" if whole else MISSING


def _sentences(found: Difference) -> Iterator[str]:
    same = found.overlap
    if same.jaccard is not None:
        yield (
            f"Of what A or B holds in fast memory (bytes x time), {same.jaccard:.1%} "
            f"is the same buffer at the same time: {_share(same.share_of_a)} of A, "
            f"{_share(same.share_of_b)} of B."
        )
    if same.prefetches:
        starts = plural(same.prefetches_close, "starts", "start")
        yield (
            f"{plural(same.prefetches, 'prefetch is', 'prefetches are')} for the same "
            f"first access in both; {starts} within two instructions of the other."
        )
    yield f"Buffers: {counts_text(found)}."
    if found.buffers:
        times = found.times[0]
        yield (
            f"B - A under {times.cost_model}: {signed_time(found.running_change_s)} "
            f"from accesses served from other memory, by buffer and by instruction "
            f"below, and {signed_time(times.stall_change_s)} from stalls."
        )


def counts_text(found: Difference) -> str:
    """How many buffers differ in which way, and how many do not."""
    kinds = Counter(x.change for x in found.buffers)
    parts = [
        f"{kinds[kind]:,} {many}" for kind, (_, many) in CHANGES.items() if kinds[kind]
    ]
    return ", ".join([*parts, f"{found.unchanged:,} placed alike"])


def _share(share: float | None) -> str:
    return MISSING if share is None else f"{share:.1%}"


def _buffer_table(changes: Sequence[BufferChange]) -> Table:
    table = new_table(
        ["buffer", "change"], ["size", "to fast", "to slow", "effect on time"]
    )
    for x in changes:
        table.add_row(
            f"{x.name} (#{x.buffer})",
            CHANGES[x.change][0],
            size_text(x.size),
            f"{x.to_fast:,}",
            f"{x.to_slow:,}",
            signed_time(x.effect_s),
        )
    return table


def _instruction_table(changes: Sequence[InstructionChange]) -> Table:
    looped = any(x.runs != 1 for x in changes)
    right = ["runs", "B - A"] if looped else ["B - A"]
    table = new_table(["instruction"], right)
    for head in ("fast in B only", "fast in A only"):
        table.add_column(head, overflow="fold")
    for x in changes:
        table.add_row(
            f"{x.instruction} {x.name}",
            *([runs_text(x.runs)] if looped else []),
            signed_time(x.change_s),
            listing(x.to_fast, _MOST_NAMED),
            listing(x.to_slow, _MOST_NAMED),
        )
    return table
