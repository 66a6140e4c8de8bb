"""Phrases that explanations and differences share."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hybridalloc.memory_map import Allocation, Origin
from hybridalloc.report.units import time_text

XLA_ANSWER = "XLA's own answer"
"""What the map is called that an input carries: the compiler's."""


def plural(count: int, one: str, more: str) -> str:
    """A number of things.

    >>> plural(1, "access", "accesses"), plural(1200, "access", "accesses")
    ('1 access', '1,200 accesses')
    """
    return f"{count:,} {one if count == 1 else more}"


def runs_text(runs: int) -> str:
    """How often something runs.

    >>> runs_text(12)
    '12'
    """
    return f"{runs:,}"


def interval_text(start: int, end: int) -> str:
    """Half-open range of instructions.

    >>> interval_text(3, 9)
    '[3, 9)'
    """
    return f"[{start}, {end})"


def change_text(seconds: float, what: str = "the run") -> str:
    """A difference in time, as a clause.

    >>> change_text(2e-6), change_text(-2e-6), change_text(0, "it")
    ('the run takes 2 µs longer', 'the run takes 2 µs less', 'it takes as long')
    """
    if seconds == 0:
        return f"{what} takes as long"
    direction = "longer" if seconds > 0 else "less"
    return f"{what} takes {time_text(abs(seconds))} {direction}"


def signed_time(seconds: float) -> str:
    """A difference in time, as a figure.

    >>> signed_time(2e-6), signed_time(-1e-3), signed_time(0.0)
    ('+2 µs', '-1 ms', '0 s')
    """
    return f"+{time_text(seconds)}" if seconds > 0 else time_text(seconds)


def left_out(count: int, limit: int, what: str) -> Iterator[str]:
    """A line that says what a table does not show, if anything.

    >>> list(left_out(12, 10, "accesses")), list(left_out(3, 10, "accesses"))
    (['and 2 more accesses (--limit 12 shows all)'], [])
    """
    if count > limit:
        yield f"and {count - limit:,} more {what} (--limit {count} shows all)"


def copies_text(allocation: Allocation) -> str:
    """How an allocation's content is copied in and out, each after a comma."""
    text = ""
    if allocation.origin is Origin.PREFETCHED:
        issues = sorted({piece.issue for piece in allocation.slices})
        sliced = f" in {len(allocation.slices)} slices" if allocation.slices else ""
        points = ", ".join(map(str, issues or [allocation.start]))
        text = f", prefetched{sliced}: issued at {points}"
        waits = points == str(allocation.ready)
        text += " and waited for" if waits else f", ready at {allocation.ready}"
    elif allocation.origin is Origin.CROSS_PROGRAM:
        text = ", left there by the previous run"
        if allocation.has_copy:
            text = f", prefetched for the next run: issued at {allocation.start}"
    if allocation.eviction:
        out = allocation.eviction
        text += f", copied back: issued at {out.issue}"
        waits = out.issue == out.due
        text += " and waited for" if waits else f", complete by {out.due}"
    return text


def above_bound(time_s: float | None, gap: float | None) -> str:
    """A time, and how far it is above a lower bound.

    >>> above_bound(3e-3, 0.25), above_bound(3e-3, None), above_bound(None, None)
    ('3 ms, 25.0 % above the bound', '3 ms', '-')
    """
    if gap is None or not math.isfinite(gap):
        return time_text(time_s)
    return f"{time_text(time_s)}, {gap_text(gap)} above the bound"


def gap_text(gap: float) -> str:
    """A gap, or another part of a time, in percent.

    >>> gap_text(2.5), gap_text(0.4948), gap_text(0.0234), gap_text(0.00003)
    ('250 %', '49.5 %', '2.34 %', '<0.01 %')
    >>> gap_text(0.0)
    '0 %'
    """
    percent = 100 * gap
    if percent < 0.01:
        return "0 %" if percent < 0.0001 else "<0.01 %"
    digits = 0 if percent >= 100 else 1 if percent >= 10 else 2
    return f"{percent:.{digits}f} %"


def printable(text: str) -> str:
    """A name in one line, whatever it holds: each odd character becomes a space."""
    return "".join(c if c.isprintable() else " " for c in text)
