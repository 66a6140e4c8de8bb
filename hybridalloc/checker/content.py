"""The rules about content: no stale value is read, kept or left behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hybridalloc.checker.facts import Facts
from hybridalloc.checker.slow_copy import (
    BackEdge,
    Entry,
    Issued,
    Moment,
    Served,
    history,
)
from hybridalloc.checker.violation import Rule, Violation
from hybridalloc.memory_map import Allocation
from hybridalloc.program import Loop


def content(facts: Facts) -> Iterator[Violation]:
    """The rules of this module, for each buffer in turn.

    A buffer that is never in fast memory needs no look: nothing makes its slow copy
    stale, and a program reads no buffer before it is written.
    """
    for buffer in facts.stays:
        moments = tuple(history(facts, buffer))
        yield from stale_read(facts, buffer, moments)
        yield from stale_prefetch(facts, buffer, moments)
        yield from stale_allocation(facts, buffer)
        yield from loop_state(facts, buffer, moments)
        yield from output(facts, buffer, moments)


def stale_read(
    facts: Facts, buffer: int, moments: Iterable[Moment]
) -> Iterator[Violation]:
    """An access served from slow memory that is not whole needs a valid slow copy."""
    for moment in moments:
        what = moment.what
        if not isinstance(what, Served) or what.fast or what.use.access.whole:
            continue
        if False in moment.valid:
            t = what.use.instruction
            message = (
                f"{facts.instruction(t)} accesses buffer "
                f"{facts.program.buffers[buffer].name} in slow memory, whose copy "
                f"is stale there{_when(moment)}"
            )
            yield Violation(Rule.STALE_READ, message, (), t)


def stale_prefetch(
    facts: Facts, buffer: int, moments: Iterable[Moment]
) -> Iterator[Violation]:
    """A prefetch needs a valid slow copy, and no write to the buffer until ready."""
    for moment in moments:
        if isinstance(moment.what, Issued) and False in moment.valid:
            copy = moment.what.copy
            message = f"{copy} copies from a stale slow copy{_when(moment)}"
            indices = (copy.placed.index,)
            yield Violation(Rule.STALE_PREFETCH, message, indices, copy.issue)
    for placed in facts.stays[buffer].allocations:
        allocation = placed.allocation
        if not allocation.has_copy:
            continue
        for t in facts.writes(buffer, allocation.start, allocation.ready):
            message = (
                f"{placed} is being prefetched until point {allocation.ready} while "
                f"{facts.instruction(t)} writes the buffer"
            )
            yield Violation(Rule.STALE_PREFETCH, message, (placed.index,), t)


def _when(moment: Moment) -> str:
    return " in some iterations" if True in moment.valid else ""


def stale_allocation(facts: Facts, buffer: int) -> Iterator[Violation]:
    """A write while two allocations of the buffer exist makes one of them stale."""
    for t in facts.writes(buffer, 0, facts.end):
        placed = [x for x in facts.stays[buffer].at(t) if x.allocation.end > t]
        if len(placed) > 1:
            placed.sort(key=lambda x: x.index)
            message = (
                f"{facts.instruction(t)} writes the buffer of "
                f"{' and '.join(map(str, placed))}, and can keep only one current"
            )
            indices = tuple(x.index for x in placed)
            yield Violation(Rule.STALE_ALLOCATION, message, indices, t)


def loop_state(
    facts: Facts, buffer: int, moments: Iterable[Moment]
) -> Iterator[Violation]:
    """At a back edge, what is live across it is where it was at the loop's entry."""
    at_entry = {}
    for moment in moments:
        if isinstance(moment.what, Entry):
            at_entry[moment.what.loop] = moment.valid
        elif isinstance(moment.what, BackEdge):
            loop = moment.what.loop
            if not _is_live(facts, buffer, loop):
                continue
            yield from _other_place(facts, buffer, loop)
            if moment.valid != at_entry[loop]:
                yield _other_validity(facts, buffer, loop, moment.valid)


def _is_live(facts: Facts, buffer: int, loop: Loop) -> bool:
    """Whether the value that a buffer has at the back edge is used later."""
    use = facts.first_use(buffer, loop.start, loop.end)
    if use is not None:
        return not use.access.whole
    return _is_live_after(facts, buffer, loop)


def _is_live_after(facts: Facts, buffer: int, loop: Loop) -> bool:
    """Whether the value that a buffer has when a loop is left is used later.

    That may be in the rest of the body around it, in the next iteration of that body,
    or, if this was its last, beyond it.
    """
    outer = facts.nest.outer[loop]
    rest_end = facts.end if outer is None else outer.end
    use = facts.first_use(buffer, loop.end, rest_end)
    if use is not None:
        return not use.access.whole
    if outer is None:
        return facts.program.buffers[buffer].is_output
    use = facts.first_use(buffer, outer.start, outer.end)
    if use is not None and not use.access.whole:
        return True
    return _is_live_after(facts, buffer, outer)


def _other_place(facts: Facts, buffer: int, loop: Loop) -> Iterator[Violation]:
    """A place at the back edge must be one at the entry, and the other way round.

    An allocation that ends just at the back edge may go either way: the one at the
    loop's first instructions takes its place over, or there is none and it is gone.
    """
    stays = facts.stays[buffer]
    entry = [x for x in stays.at(loop.start) if _holds_at_entry(x.allocation, loop)]
    back = [x for x in stays.at(loop.end) if _holds_at_back_edge(x.allocation, loop)]
    at_entry = {x.allocation.offset for x in entry}
    at_back = {x.allocation.offset for x in back}
    kept = {x.allocation.offset for x in back if x.allocation.end > loop.end}
    if kept <= at_entry <= at_back:
        return
    message = (
        f"buffer {facts.program.buffers[buffer].name} is live across the back edge of "
        f"loop [{loop.start}, {loop.end}), with {_places(at_entry)} at its entry but "
        f"{_places(at_back)} at the back edge"
    )
    indices = {x.index for x in entry} | {x.index for x in back}
    yield Violation(Rule.LOOP_STATE, message, tuple(sorted(indices)), loop.end)


def _places(offsets: set[int | None]) -> str:
    if not offsets:
        return "no place in fast memory"
    return f"a place at offset {' and '.join(sorted(map(str, offsets)))}"


def _holds_at_entry(allocation: Allocation, loop: Loop) -> bool:
    """Whether it has the content of a live buffer just before the first iteration.

    What the first instruction produces is not yet there, but then it is not live.
    """
    return allocation.ready <= loop.start < allocation.end


def _holds_at_back_edge(allocation: Allocation, loop: Loop) -> bool:
    """Whether it has the buffer's content just after the last instruction.

    A copy due there belongs to the body only if it is issued within.
    """
    ready = allocation.ready < loop.end or (
        allocation.ready == loop.end and loop.start < allocation.start < loop.end
    )
    return ready and allocation.start < loop.end <= allocation.end


def _other_validity(
    facts: Facts, buffer: int, loop: Loop, valid: frozenset[bool]
) -> Violation:
    at_back, at_entry = ("valid", "stale") if True in valid else ("stale", "valid")
    message = (
        f"buffer {facts.program.buffers[buffer].name} is live across the back edge of "
        f"loop [{loop.start}, {loop.end}), with a {at_entry} slow copy at its entry "
        f"but a {at_back} one at the back edge"
    )
    return Violation(Rule.LOOP_STATE, message, (), loop.end)


def output(facts: Facts, buffer: int, moments: Iterable[Moment]) -> Iterator[Violation]:
    """The slow copy of every output is valid at the end of the run."""
    if not facts.program.buffers[buffer].is_output:
        return
    for moment in moments:
        if moment.what is None and False in moment.valid:
            message = (
                f"output buffer {facts.program.buffers[buffer].name} has a stale slow "
                f"copy at point {facts.end}, the end of the run"
            )
            yield Violation(Rule.OUTPUT, message, (), facts.end)
