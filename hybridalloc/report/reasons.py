"""Why accesses are not served from fast memory, in words."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table

from hybridalloc.memory_map import Origin
from hybridalloc.report.tables import new_table
from hybridalloc.report.units import size_text, time_text
from hybridalloc.report.words import (
    change_text,
    copies_text,
    interval_text,
    left_out,
)
from hybridalloc.understanding.explanation import (
    Blocker,
    Explanation,
    Limit,
    Miss,
    Trial,
    Verdict,
)


def reasons(found: Explanation, limit: int) -> Iterator[RenderableType]:
    """Why each stretch of accesses is served from slow memory.

    Args:
        found: The figures.
        limit: The most runs to discuss, those first that would save most, and the most
            rows of each table.
    """
    discussed = [x for x in found.misses if x.verdict is not Verdict.BARRED]
    most = sorted(discussed, key=lambda x: -x.saving_s)[:limit]
    for miss in sorted(most, key=lambda x: x.first):
        yield ""
        yield f"Why not in fast memory for {_which(found, miss.first, miss.last)}?"
        yield from _reason(found, miss, limit)
        if miss.part is not None:
            some = _which(found, miss.part.first, miss.part.last)
            yield f"  There is room for a part, {some}: {_placed(miss.part)}."
    yield from left_out(len(discussed), limit, "stretches of accesses from slow memory")


def _which(found: Explanation, first: int, last: int) -> str:
    """The accesses, by their instructions."""
    one, other = found.accesses[first], found.accesses[last]
    begin = f"{one.instruction} {one.name}"
    if first == last:
        return f"access {begin}"
    count = last - first + 1
    return f"the {count} accesses {begin} to {other.instruction} {other.name}"


def _reason(found: Explanation, miss: Miss, limit: int) -> Iterator[RenderableType]:
    if miss.verdict is Verdict.NOTHING_TO_GAIN:
        yield f"  It would save nothing: {_nothing(found, miss)}."
        return
    yield f"  It would save {time_text(miss.saving_s)} there, copies apart."
    if miss.placed is not None:
        yield from _room(found, miss, miss.placed)
    elif miss.verdict is Verdict.RULES:
        yield (
            f"  There is room, but no simple placement is valid; of the fastest: "
            f"{miss.violation}."
        )
    elif miss.verdict is Verdict.FIXED:
        yield (
            f"  There is no room for {size_text(found.size)}, and what is in the way "
            f"cannot move: scratch of instructions, reserved bytes, pinned buffers or "
            f"another stay of its own."
        )
    if miss.blockers:
        yield from _blocked(found, miss, limit)


def _nothing(found: Explanation, miss: Miss) -> str:
    effects = found.accesses[miss.first : miss.last + 1]
    if miss.saving_s < 0:
        return "the compiler's estimates are higher with it in fast memory"
    limits = {x.limit for x in effects}
    if limits == {Limit.NO_BYTES}:
        return "no bytes are moved"
    if Limit.ESTIMATE in limits:
        return "the compiler's estimates are the same with it in fast memory"
    which = "the instruction computes" if len(effects) == 1 else "they compute"
    whose = "its" if len(effects) == 1 else "their"
    return f"{which} for longer than {whose} memory traffic takes, either way"


def _room(found: Explanation, miss: Miss, placed: Trial) -> Iterator[str]:
    if placed.change_s < 0:
        yield f"  There is room, and the map leaves it: {_placed(placed)}."
        return
    yield f"  There is room, but it does not pay: {_placed(placed)}.{_work(placed)}"
    if found.cross_program and miss.first == 0 and placed.stall_change_s > 0:
        yield "  A cross-program prefetch, which the run before brings, is not tried."


def _work(placed: Trial) -> str:
    """Why copies make a program wait."""
    if placed.copy_s == 0 or placed.stall_change_s <= 0:
        return ""
    return (
        f" Its copying takes {time_text(placed.copy_s)} each time; there is too little "
        f"idle time to hide that, or other copies use it."
    )


def _placed(trial: Trial) -> str:
    """A placement and what it does."""
    allocation = trial.allocations[0]
    how = copies_text(allocation).removeprefix(", ")
    if allocation.origin is Origin.PRODUCED:
        how = f"produced at {allocation.start}{copies_text(allocation)}"
    stay = interval_text(allocation.start, allocation.end)
    place = f"at offset {allocation.offset:,} in {stay} ({how})"
    return f"{place}, {change_text(trial.change_s)}{_stalls(trial)}"


def _stalls(trial: Trial) -> str:
    if trial.stall_change_s == 0:
        return ""
    more = "more" if trial.stall_change_s > 0 else "less"
    return f", with {time_text(abs(trial.stall_change_s))} {more} in stalls"


def _blocked(found: Explanation, miss: Miss, limit: int) -> Iterator[RenderableType]:
    """What is in the way, and whether the buffer is worth more."""
    count = len(miss.blockers)
    size = size_text(found.size)
    why = f"There is no room for {size}"
    if miss.placed:
        why = "There is no room for a stay long enough to hide the copy"
    which = "is this one" if count == 1 else f"are these {count:,}"
    yield (
        f"  {why}. By what their accesses save, the cheapest to move out of the way "
        f"{which}:"
    )
    yield ""
    ordered = sorted(miss.blockers, key=lambda x: -x.worth_s)
    yield _blocker_table(ordered[:limit])
    yield from left_out(count, limit, "allocations in the way")
    yield ""
    yield from _trade(found, miss)


def _trade(found: Explanation, miss: Miss) -> Iterator[str]:
    """What the run would take without those in the way, and with the buffer instead."""
    them, loss_s, trade = _them(miss), miss.blockers_loss_s or 0.0, miss.trade
    stalls = ", as their copies cost more than their accesses save"
    yield f"  Without {them}, {change_text(loss_s)}{stalls if loss_s < 0 else ''}."
    if trade is None:
        why = f": {miss.violation}" if miss.violation else ""
        yield f"  Instead of {them}, no simple placement is valid{why}."
        return
    if miss.verdict is Verdict.TRADE:
        verdict = "So the map would gain by the trade"
    elif trade.change_s < 0:
        verdict = f"So the gain is not {found.name}'s, but in doing without {them}"
    else:
        verdict = f"So the map does well to keep {them}"
    yield f"  With {found.name} instead, {_placed(trade)}. {verdict}."


def _them(miss: Miss) -> str:
    return "it" if len(miss.blockers) == 1 else "them"


def _blocker_table(blockers: list[Blocker]) -> Table:
    table = new_table(
        ["  in the way", "instructions"], ["offset", "size", "its accesses save"]
    )
    for x in blockers:
        table.add_row(
            f"  {x.name} (#{x.allocation.buffer})",
            interval_text(x.allocation.start, x.allocation.end),
            f"{x.allocation.offset:,}",
            size_text(x.size),
            time_text(x.worth_s),
        )
    return table
