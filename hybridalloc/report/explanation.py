"""An explanation of one buffer, in words and tables, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from hybridalloc.memory_map import Allocation, Origin
from hybridalloc.report.reasons import reasons
from hybridalloc.report.tables import new_table, short_name, simulated
from hybridalloc.report.units import MISSING, size_text, time_text
from hybridalloc.report.words import (
    copies_text,
    interval_text,
    left_out,
    plural,
    runs_text,
)
from hybridalloc.understanding.explanation import (
    AccessEffect,
    Barrier,
    Explanation,
    Limit,
    Place,
)

_BARRIERS = {
    Barrier.EXCLUDED: "the input keeps it in slow memory, as compilers do with "
    "constants, scalars and values that have a place of their own",
    Barrier.TOO_LARGE: "it is larger than that memory",
    Barrier.EMPTY: "it has no bytes",
}
_LIMITS = {
    Limit.NO_BYTES: "moves no bytes",
    Limit.COMPUTE: "compute-bound",
    Limit.ESTIMATE: "same estimate either way",
}


def explanation_parts(
    found: Explanation, input_name: str, limit: int
) -> Iterator[RenderableType]:
    """What there is to say to people, one part after the other.

    Args:
        found: The figures.
        input_name: The path of the input.
        limit: The most rows of each table, and the most stretches of accesses to
            discuss.
    """
    models = simulated(found.cost_model, found.target)
    yield (
        f"{found.name} (#{found.buffer}) of {short_name(input_name)}; "
        f"{size_text(found.capacity_bytes)} of fast memory; {models}"
    )
    yield ""
    yield f"{_kind(found)} {_summary(found)}"
    if found.accesses:
        yield ""
        yield _access_table(found.accesses[:limit])
        yield from left_out(len(found.accesses), limit, "accesses")
    if found.places and any(x.allocation for x in found.places):
        yield ""
        yield _place_table(found, found.places[:limit])
        yield from left_out(len(found.places), limit, "places")
    yield from reasons(found, limit)


def explanation_json(found: Explanation) -> dict[str, Any]:
    """All figures, under the names of the fields of ``Explanation``."""
    return {**asdict(found), "saving_s": found.saving_s}


def _kind(found: Explanation) -> str:
    """What the buffer is."""
    kinds = {
        (False, False): "a temporary",
        (True, False): "an input",
        (False, True): "an output",
        (True, True): "an input and output in one (donated)",
    }
    pinned = ", pinned to fast memory" if found.memory == "fast" else ""
    kind = kinds[found.is_input, found.is_output]
    return f"{size_text(found.size)}, {kind}{pinned}."


def _summary(found: Explanation) -> str:
    """The answer in a sentence or two."""
    if found.barrier is not None:
        return f"It can never be in fast memory: {_BARRIERS[found.barrier]}."
    if not found.accesses:
        return "No instruction accesses it."
    count, fast = len(found.accesses), sum(x.fast for x in found.accesses)
    if not any(x.allocation for x in found.places):
        return f"{_all(count)} served from slow memory."
    share = f"{fast} of its {count} accesses {'is' if fast == 1 else 'are'}"
    if fast == count:
        share = _all(count)
    return f"{share} served from fast memory. {_value(found)}"


def _all(count: int) -> str:
    """All accesses, and the verb.

    >>> _all(1), _all(2), _all(3)
    ('Its only access is', 'Both its accesses are', 'All its 3 accesses are')
    """
    if count <= 2:
        return "Its only access is" if count == 1 else "Both its accesses are"
    return f"All its {count:,} accesses are"


def _value(found: Explanation) -> str:
    """What its places in fast memory are worth."""
    run = f"the run's {time_text(found.time_s)}"
    saved = found.saving_s
    if saved is None:
        return "It is pinned there, so there is no time without that."
    if saved == 0:
        return f"That makes no difference to {run}."
    if saved > 0:
        return (
            f"Were it always in slow memory, {run} would grow by {time_text(saved)}, "
            f"copies and stalls included."
        )
    return (
        f"Yet {run} would shrink by {time_text(-saved)} if it were always in slow "
        f"memory: its copies cost more than its accesses save."
    )


def _access_table(accesses: Sequence[AccessEffect]) -> Table:
    looped = any(x.runs != 1 for x in accesses)
    right = ["reads", "writes", "takes", "from"]
    table = new_table(["accessed by"], ["runs", *right] if looped else right)
    table.add_column("", no_wrap=True)
    for x in accesses:
        table.add_row(
            f"{x.instruction} {x.name}",
            *([runs_text(x.runs)] if looped else []),
            size_text(x.read_bytes) if x.read_bytes else MISSING,
            size_text(x.write_bytes) if x.write_bytes or x.whole else MISSING,
            time_text(x.elapsed_s),
            "fast" if x.fast else "slow",
            _effect(x),
        )
    return table


def _effect(x: AccessEffect) -> str:
    """What it saves or would save."""
    if x.limit is not None:
        return f"no difference: {_LIMITS[x.limit]}"
    verb = "saves" if x.fast else "would save"
    if x.saving_s < 0:
        verb = "costs" if x.fast else "would cost"
    each = f" in all {runs_text(x.runs)} runs" if x.runs != 1 else ""
    return f"{verb} {time_text(abs(x.saving_s))}{each}"


def _place_table(found: Explanation, places: Sequence[Place]) -> Table:
    table = new_table(["where", "instructions"], ["offset", "serves"])
    table.add_column("how", no_wrap=True)
    names = {x.instruction: x.name for x in found.accesses}
    for place in places:
        allocation = place.allocation
        table.add_row(
            "fast" if allocation else "slow",
            interval_text(place.start, place.end),
            f"{allocation.offset:,}" if allocation else "",
            plural(place.accesses, "access", "accesses") if place.accesses else MISSING,
            _how(allocation, names) if allocation else "",
        )
    return table


def _how(allocation: Allocation, names: dict[int, str]) -> str:
    """How it came there and how it leaves."""
    if allocation.origin is Origin.PRODUCED:
        name = names.get(allocation.start, "")
        return f"produced by {allocation.start} {name}{copies_text(allocation)}"
    return copies_text(allocation).removeprefix(", ")
