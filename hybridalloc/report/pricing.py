"""What a buffer's stays in fast memory cost and save, in words and a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from hybridalloc.report.tables import new_table
from hybridalloc.report.units import time_text
from hybridalloc.report.words import interval_text, left_out
from hybridalloc.understanding.pricing import Stay


def price_parts(stays: Sequence[Stay], limit: int) -> Iterator[RenderableType]:
    """What there is to say to people, one part after the other.

    Args:
        stays: What they cost and save.
        limit: The most rows.
    """
    yield ""
    yield "Is it worth the space? At the prices of the lower bound:"
    if not stays:
        yield "  It has no stay in fast memory, and none to gain from."
        return
    yield ""
    table = new_table(["stay", "instructions"], ["space costs", "accesses save"])
    table.add_column("", no_wrap=True)
    for x in stays[:limit]:
        table.add_row(
            "held" if x.held else "missed",
            interval_text(x.start, x.end),
            time_text(x.price_s),
            time_text(x.saving_s),
            _worth(x),
        )
    yield table
    yield from left_out(len(stays), limit, "stays")


def _worth(stay: Stay) -> str:
    """Whether it saves more than it costs."""
    if stay.saving_s > stay.price_s:
        return "worth it"
    return "not worth it" if stay.saving_s < stay.price_s else "even"
