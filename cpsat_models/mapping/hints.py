"""From a map to values of the literals: where the search is to begin."""

from __future__ import annotations

from collections.abc import Iterator

from hybridalloc.cpsat_models.mapping.variables import (
    CopyVariables,
    LifeVariables,
    Lit,
    Variables,
)
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.timeline import Kind, Node

Hint = tuple[Lit, bool]


def hints_from(variables: Variables, memory_map: MemoryMap) -> Iterator[Hint]:
    """What the literals of all buffers come to in a map, slices as if they were one."""
    by_buffer: dict[int, list[Allocation]] = {}
    for allocation in memory_map.allocations:
        by_buffer.setdefault(allocation.buffer, []).append(allocation)
    for life in variables.lives:
        stays = sorted(by_buffer.get(life.life.buffer, []), key=lambda x: x.ready)
        yield from _life(life, stays)


def _life(life: LifeVariables, stays: list[Allocation]) -> Iterator[Hint]:
    nodes, segments = life.life.timeline.nodes, life.life.timeline.segments
    serving = [_serving(life, node, stays) for node in nodes]
    last = serving[-1] if serving else None
    whole = last is not None and last.origin is Origin.CROSS_PROGRAM
    end = segments[-1].high
    for k, (node, now) in enumerate(zip(nodes, serving, strict=True)):
        yield life.fast[k], now is not None
        before = serving[k - 1] if k else None
        held = now is not None and now is before and not node.whole
        if k == 0:
            held = now is not None and now.origin is Origin.CROSS_PROGRAM
        yield life.held[k], held
        if k in life.fetches:
            fetched = None if held or node.whole else now
            yield from _copy(
                life.fetches[k],
                None if fetched is None else (fetched.start, fetched.ready),
            )
    yield life.held[-1], whole and last is not None and last.end == end
    for copy in life.tails:
        tail = next((x for x in stays if _is_tail(x, copy)), None)
        yield from _copy(copy, None if tail is None else (tail.start, tail.ready))
    for copy in life.evictions.values():
        found = [x.eviction for x in stays if x.eviction]
        own = next((x for x in found if _is_within(copy, x.issue, x.due)), None)
        yield from _copy(copy, None if own is None else (own.issue, own.due))


def _serving(
    life: LifeVariables, node: Node, stays: list[Allocation]
) -> Allocation | None:
    """The allocation that serves an access, or is held at a gate.

    What is live across a loop may end just at its exit; it goes on at the entry. What
    is not live is not held at the entry.
    """
    live = node.loop is None or life.life.timeline.live_across(node.loop)
    if node.kind is Kind.ENTRY and not live:
        return None
    is_exit = node.kind is Kind.EXIT
    for x in stays:
        begun = x.start < node.point if is_exit else x.start <= node.point
        if begun and x.ready <= node.point < x.end + (is_exit and live):
            return x
    return None


def _is_tail(allocation: Allocation, copy: CopyVariables) -> bool:
    starts_late = allocation.origin is Origin.CROSS_PROGRAM and allocation.start > 0
    return starts_late and _is_within(copy, allocation.start, allocation.ready)


def _is_within(copy: CopyVariables, issue: int, due: int) -> bool:
    return issue in copy.window.issues and due in copy.window.dues


def _copy(copy: CopyVariables, when: tuple[int, int] | None) -> Iterator[Hint]:
    """Its literals, if it is issued and due at these points."""
    for number, literals in enumerate((copy.issued, copy.ready)):
        points = (copy.window.issues, copy.window.dues)[number]
        for point, literal in zip(points, literals, strict=True):
            yield literal, when is not None and when[number] <= point
