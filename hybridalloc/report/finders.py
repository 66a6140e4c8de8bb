"""Which component of a strategy found how much of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table

from hybridalloc.incumbents import WARM_START
from hybridalloc.report.tables import new_table
from hybridalloc.report.units import MISSING, time_text
from hybridalloc.report.words import gap_text
from hybridalloc.solver import Incumbent, Result


@dataclass(frozen=True, slots=True)
class Finder:
    """What a component found."""

    component: str
    improvements: int
    """How many of the maps that were better than all before."""
    saved_s: float
    """By how many seconds of run time these were better. Under a robust objective it
    may be less than 0: what falls is the mean of two times."""
    last_s: float
    """When the last of them came, in seconds from the start of the search."""


def finders(history: Sequence[Incumbent], start_s: float) -> tuple[Finder, ...]:
    """The components that found anything, the first to do so first.

    Args:
        history: Of an answer.
        start_s: The time than which its first map is better, in seconds; a first map
            that is not saves nothing.
    """
    found: dict[str, Finder] = {}
    before_s = max(start_s, history[0].time) if history else start_s
    for incumbent in history:
        name, saved_s = incumbent.found_by, before_s - incumbent.time
        others = found.get(name, Finder(name, 0, 0.0, 0.0))
        found[name] = Finder(
            name,
            others.improvements + 1,
            others.saved_s + saved_s,
            incumbent.runtime,
        )
        before_s = incumbent.time
    return tuple(found.values())


def who_found(result: Result, slow_s: float, whole: str) -> list[RenderableType]:
    """Who found what of an answer, for people; nothing if that goes without saying.

    Args:
        result: The answer.
        slow_s: The time with everything in slow memory, in seconds.
        whole: What the strategy as a whole is called where it found something itself,
            however its text was spelled.
    """
    history, start, start_s = result.history, "all in slow memory", slow_s
    if history and result.warm_start_used:
        start, start_s = "the warm start", history[0].time
    elif history and history[0].time > slow_s:
        start, start_s = "the first map", history[0].time
    rows = [x for x in finders(history, start_s) if x.component != WARM_START]
    if history and not rows:
        return ["", "nothing better than the warm start was found"]
    if [x.component for x in rows] in ([], [whole]):
        return []
    total_s = sum(row.saved_s for row in rows)
    title = "who found it"
    if total_s > 0:
        title = f"who found it, {time_text(total_s)} less than {start}"
    return ["", title, "", _table(rows, 0.0 if result.times_s else total_s)]


def _table(rows: Sequence[Finder], total_s: float) -> Table:
    """A line for each; their shares, if the total is above 0."""
    heads = ["improvements", "time saved", "share", "last after"]
    table = new_table(["found by"], heads)
    for row in rows:
        table.add_row(
            row.component,
            f"{row.improvements:,}",
            time_text(row.saved_s),
            gap_text(row.saved_s / total_s) if total_s > 0 else MISSING,
            f"{row.last_s:.2f} s",
        )
    return table
