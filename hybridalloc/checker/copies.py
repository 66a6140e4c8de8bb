"""The rules about when copies run, and the cross-program prefetch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hybridalloc.checker.facts import Copy, Facts, Placed
from hybridalloc.checker.violation import Rule, Violation
from hybridalloc.memory_map import Origin


def eviction(facts: Facts) -> Iterator[Violation]:
    """An eviction is issued after its allocation is ready and last written.

    That it is due by the end of the allocation is checked where allocations are made.
    """
    for placed in facts.allocations:
        allocation = placed.allocation
        if allocation.eviction is None:
            continue
        issue = allocation.eviction.issue
        if not placed.is_complete(issue):
            message = (
                f"{placed} is evicted from point {issue} on, when its prefetch, due at "
                f"point {allocation.ready}, is not complete"
            )
            yield Violation(Rule.EVICTION, message, (placed.index,))
        for t in facts.writes(allocation.buffer, issue, allocation.end):
            message = (
                f"{placed} is evicted from point {issue} on, but "
                f"{facts.instruction(t)} writes it after that"
            )
            yield Violation(Rule.EVICTION, message, (placed.index,), t)


def loop_copy(facts: Facts) -> Iterator[Violation]:
    """The two ends of a copy lie in the same loop body, or both outside it."""
    for placed in facts.allocations:
        for copy in placed.copies():
            loop = facts.nest.left_or_entered_by(copy.issue, copy.due)
            if loop is None:
                continue
            message = (
                f"{copy} has only one end inside loop [{loop.start}, {loop.end}); "
                f"expected both or neither"
            )
            yield Violation(Rule.LOOP_COPY, message, (placed.index,))


def outstanding(facts: Facts) -> Iterator[Violation]:
    """At no point are more copies outstanding than the target allows.

    Each run of points with too many is one violation, told for its first point.
    """
    engine = facts.target.copy_engine
    prefetches = [
        copy
        for placed in facts.allocations
        if placed.allocation.origin is Origin.PREFETCHED
        for copy in placed.fetches()
    ]
    evictions = [
        copy
        for placed in facts.allocations
        for copy in placed.copies()
        if copy.is_eviction
    ]
    yield from _too_many("prefetches", prefetches, engine.max_outstanding_prefetches)
    yield from _too_many("evictions", evictions, engine.max_outstanding_evictions)


def _too_many(what: str, copies: Iterable[Copy], limit: int) -> Iterator[Violation]:
    changes: dict[int, list[tuple[int, bool]]] = {}
    numbered = dict(enumerate(copies))
    for number, copy in numbered.items():
        after = max(copy.due, copy.issue + 1)  # a copy due at once counts at its point
        changes.setdefault(copy.issue, []).append((number, True))
        changes.setdefault(after, []).append((number, False))
    running: set[int] = set()
    exceeded = False
    for point in sorted(changes):
        for number, begins in changes[point]:
            (running.add if begins else running.remove)(number)
        if len(running) > limit and not exceeded:
            message = (
                f"at point {point} {len(running)} {what} are outstanding, but the "
                f"target allows {limit}"
            )
            indices = {numbered[number].placed.index for number in running}
            yield Violation(Rule.OUTSTANDING, message, tuple(sorted(indices)), point)
        exceeded = len(running) > limit


def cross_program(facts: Facts) -> Iterator[Violation]:
    """Few enough, of inputs that nobody changes, in one of the two forms."""
    groups: dict[int, list[Placed]] = {}
    for placed in facts.allocations:
        if placed.allocation.origin is Origin.CROSS_PROGRAM:
            groups.setdefault(placed.allocation.buffer, []).append(placed)
    limit = facts.target.cross_program_prefetches
    if len(groups) > limit:
        message = (
            f"{len(groups)} inputs have a cross-program prefetch, but the target "
            f"allows {limit}"
        )
        indices = tuple(sorted(x.index for group in groups.values() for x in group))
        yield Violation(Rule.CROSS_PROGRAM, message, indices)
    for buffer, group in groups.items():
        indices = tuple(placed.index for placed in group)
        for reason in (*_unsuitable(facts, buffer), *_ill_formed(facts, group)):
            message = (
                f"the cross-program prefetch of buffer "
                f"{facts.program.buffers[buffer].name} {reason}: "
                f"{', '.join(map(str, group))}"
            )
            yield Violation(Rule.CROSS_PROGRAM, message, indices)


def _unsuitable(facts: Facts, index: int) -> Iterator[str]:
    """Why the next run would not find this buffer unchanged."""
    buffer = facts.program.buffers[index]
    if not buffer.is_input:
        yield "is of a buffer that is no input"
    if buffer.is_output:
        yield "is of a buffer that is an output"
    for t in facts.writes(index, 0, facts.end):
        yield f"is of a buffer that {facts.instruction(t)} writes"


def _ill_formed(facts: Facts, group: list[Placed]) -> Iterator[str]:
    """What keeps the allocations of one input from one of the two forms."""
    heads = [x.allocation for x in group if x.allocation.start == 0]
    tails = [x.allocation for x in group if x.allocation.start > 0]
    held = any(head.end == facts.end for head in heads)
    if len(heads) != 1 or len(tails) != (0 if held else 1):
        yield (
            f"must be one allocation [0, {facts.end}), or one [0, end) and one "
            f"[start, {facts.end})"
        )
    if any(head.ready != 0 for head in heads):
        yield "must be ready at point 0, where the program starts"
    if any(not tail.ready == tail.end == facts.end for tail in tails):
        yield f"must be ready and end at point {facts.end} in the tail"
    if len({allocation.offset for allocation in heads + tails}) > 1:
        yield "must be at one offset for the next run to find it"
