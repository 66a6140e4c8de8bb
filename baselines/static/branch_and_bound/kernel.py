"""The search, compiled: depth first, with its stack in arrays.

Each node places one buffer at the least offset that what is placed allows it, from the
bottom up: offsets never decrease along a branch (Moffitt, *MiniMalloc*, ASPLOS 2023:
canonical solutions). Where no buffer that is still to be placed is live across a point
of time, the two sides are solved apart; if one fails, so does the node that made them.
"""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.baselines.static.branch_and_bound.components import divide
from hybridalloc.baselines.static.branch_and_bound.sections import Sections
from hybridalloc.baselines.static.branch_and_bound.tree import (
    AT,
    COMPONENT,
    COMPONENT_COUNT,
    COMPONENTS,
    DEPTH,
    FAILED,
    FAR,
    FIRST,
    FLOOR_COUNT,
    FLOORS,
    FOUND,
    GOING_ON,
    IS_BARE,
    LAST,
    LEFT,
    LOW_COUNT,
    LOWS,
    MAKER,
    NEXT,
    NOTHING,
    PARENT,
    PLACED,
    POOL,
    POOL_COUNT,
    RANK,
    RIGHT,
    UNPLACED,
    Tree,
)
from hybridalloc.jit import compiled


@compiled
def begin(sections: Sections, tree: Tree) -> None:
    """Divide the whole problem into components, and enter the first."""
    n = len(sections.sizes)
    tree.pool[:n] = np.arange(n)
    counters = tree.counters
    counters[:] = 0
    counters[POOL_COUNT] = n
    divide(sections, tree, (0, n, 0, len(tree.floors)), NOTHING, NOTHING)
    _push(tree, 0, 0, NOTHING)


@compiled
def search(sections: Sections, tree: Tree, nodes: int) -> int:
    """Visit some nodes.

    Args:
        sections: The problem.
        tree: As ``begin`` or the last call left it.
        nodes: So many, or until all is known, or until there may be no more room.

    Returns:
        ``FAILED``, ``FOUND`` or ``GOING_ON``.
    """
    for _ in range(nodes):
        depth = tree.counters[DEPTH]
        frame = tree.frames[:, depth]
        if _is_short_of_room(sections, tree):
            return GOING_ON
        component = frame[COMPONENT]
        buffer, at, rank, is_complete = _next(sections, tree, frame)
        if is_complete:
            component = tree.components[NEXT, component]
            if component == NOTHING:
                return FOUND
            _push(tree, component, depth, tree.components[MAKER, component])
        elif buffer == NOTHING:
            if not _back(sections, tree):
                return FAILED
        else:
            frame[AT], frame[RANK], frame[PLACED] = at, rank, buffer
            if _place(sections, tree, buffer, at):
                _descend(sections, tree)
            else:
                _undo(sections, tree, depth)
    return GOING_ON


@compiled
def _is_short_of_room(sections: Sections, tree: Tree) -> bool:
    """Whether one more node may not have the room it needs."""
    counters, n, most = tree.counters, len(sections.sizes), len(tree.floors)
    return bool(
        counters[LOW_COUNT] + n > tree.low_trail.shape[1]
        or counters[FLOOR_COUNT] + 2 * most > tree.floor_trail.shape[1]
        or counters[POOL_COUNT] + n > len(tree.pool)
        or counters[COMPONENT_COUNT] + n > tree.components.shape[1]
    )


@compiled
def _push(tree: Tree, component: int, depth: int, parent: int) -> None:
    """Make a frame at this depth in which nothing of the component is tried yet."""
    frame, counters = tree.frames[:, depth], tree.counters
    frame[COMPONENT], frame[AT], frame[RANK] = component, -1, -1
    frame[PLACED], frame[PARENT] = NOTHING, parent
    counters[DEPTH] = depth


@compiled
def _next(sections: Sections, tree: Tree, frame: Ints) -> tuple[int, int, int, bool]:
    """What to place next: by its offset and rank the first after the last one tried.

    Nothing is placed above where another buffer could end: that one could go below.

    Returns:
        The buffer or -1, its offset, its rank, and whether nothing is left to place.
    """
    component = frame[COMPONENT]
    first, last = tree.components[FIRST, component], tree.components[LAST, component]
    chosen, at, rank, height = NOTHING, FAR, NOTHING, FAR
    is_complete = True
    for i in range(first, last):
        buffer = tree.pool[i]
        if tree.offsets[buffer] != UNPLACED:
            continue
        is_complete = False
        low = tree.lows[buffer]
        height = min(height, low + sections.sizes[buffer])
        is_later = low > frame[AT] or (low == frame[AT] and i > frame[RANK])
        if is_later and low < at:
            chosen, at, rank = buffer, low, i
    if at >= height:
        chosen = NOTHING
    return chosen, at, rank, is_complete


@compiled
def _place(sections: Sections, tree: Tree, buffer: int, at: int) -> bool:
    """Place a buffer; whether what is left may still fit."""
    frame, counters = tree.frames[:, tree.counters[DEPTH]], tree.counters
    frame[LOWS], frame[FLOORS] = counters[LOW_COUNT], counters[FLOOR_COUNT]
    frame[COMPONENTS], frame[POOL] = counters[COMPONENT_COUNT], counters[POOL_COUNT]
    tree.offsets[buffer] = at
    height = at + sections.sizes[buffer]
    for i in range(sections.first_home[buffer], sections.first_home[buffer + 1]):
        s = sections.homes[i]
        _raise_floor(tree, s, height)
        tree.totals[s] -= sections.sizes[buffer]
    for s in range(sections.spans[0, buffer], sections.spans[1, buffer] - 1):
        tree.cuts[s] -= 1
    return _lift(sections, tree, buffer, height) and _fits(
        sections, tree, frame[COMPONENT], at
    )


@compiled
def _lift(sections: Sections, tree: Tree, buffer: int, height: int) -> bool:
    """Raise the least offsets of the neighbours; whether each can still be placed."""
    tree.stamps[-1] += 1
    now = tree.stamps[-1]
    tree.frames[IS_BARE, tree.counters[DEPTH]] = 1
    for i in range(
        sections.first_neighbour[buffer], sections.first_neighbour[buffer + 1]
    ):
        other = sections.neighbours[i]
        if tree.offsets[other] != UNPLACED:
            continue
        tree.frames[IS_BARE, tree.counters[DEPTH]] = 0
        if tree.lows[other] >= height:
            continue
        count = tree.counters[LOW_COUNT]
        tree.low_trail[0, count], tree.low_trail[1, count] = other, tree.lows[other]
        tree.counters[LOW_COUNT] = count + 1
        alignment = sections.alignments[other]
        low = -(-height // alignment) * alignment
        tree.lows[other] = low
        if low + sections.sizes[other] > sections.limits[other]:
            return False
        if sections.fixed[other] >= 0 and low > sections.fixed[other]:
            return False
        for j in range(sections.first_home[other], sections.first_home[other + 1]):
            tree.stamps[sections.homes[j]] = now
    return True


@compiled
def _fits(sections: Sections, tree: Tree, component: int, at: int) -> bool:
    """Whether in no section what is left exceeds the space above its floor.

    The floor is where the lowest of it can be, and nowhere below what was placed last.
    """
    left, right = tree.components[LEFT, component], tree.components[RIGHT, component]
    now = tree.stamps[-1]
    for s in range(left, right):
        if tree.stamps[s] == now:
            low = FAR
            for i in range(sections.first_member[s], sections.first_member[s + 1]):
                member = sections.members[i]
                if tree.offsets[member] == UNPLACED:
                    low = min(low, tree.lows[member])
            if tree.floors[s] < low < FAR:
                _raise_floor(tree, s, low)
        if max(at, tree.floors[s]) + tree.totals[s] > sections.ceilings[s]:
            return False
    return True


@compiled
def _raise_floor(tree: Tree, s: int, floor: int) -> None:
    count = tree.counters[FLOOR_COUNT]
    tree.floor_trail[0, count], tree.floor_trail[1, count] = s, tree.floors[s]
    tree.counters[FLOOR_COUNT] = count + 1
    tree.floors[s] = floor


@compiled
def _descend(sections: Sections, tree: Tree) -> None:
    """Go on with what is left of the component, or with the parts it falls into."""
    depth = tree.counters[DEPTH]
    frame = tree.frames[:, depth]
    component, buffer = frame[COMPONENT], frame[PLACED]
    is_cut = False
    for s in range(sections.spans[0, buffer], sections.spans[1, buffer] - 1):
        is_cut |= tree.cuts[s] == 0
    made = tree.counters[COMPONENT_COUNT]
    if is_cut:
        part = tree.components[:, component]
        whole = (part[FIRST], part[LAST], part[LEFT], part[RIGHT])
        divide(sections, tree, whole, part[NEXT], depth)
    if tree.counters[COMPONENT_COUNT] > made:
        _push(tree, made, depth + 1, depth)
    else:
        _push(tree, component, depth + 1, depth)
        tree.frames[AT, depth + 1] = frame[AT]
        tree.frames[RANK, depth + 1] = frame[RANK]


@compiled
def _back(sections: Sections, tree: Tree) -> bool:
    """Give a frame up and go back to its parent; whether there is one."""
    depth = tree.counters[DEPTH]
    parent = tree.frames[PARENT, depth]
    if parent == NOTHING:
        return False
    for d in range(depth - 1, parent - 1, -1):
        _undo(sections, tree, d)
    tree.counters[DEPTH] = parent
    return True


@compiled
def _undo(sections: Sections, tree: Tree, depth: int) -> None:
    """Take back what a frame placed.

    Where nothing was left to place above it, another choice would not help: it would be
    at the same offset later.
    """
    frame, counters = tree.frames[:, depth], tree.counters
    buffer = frame[PLACED]
    for count in range(counters[LOW_COUNT] - 1, frame[LOWS] - 1, -1):
        tree.lows[tree.low_trail[0, count]] = tree.low_trail[1, count]
    for count in range(counters[FLOOR_COUNT] - 1, frame[FLOORS] - 1, -1):
        tree.floors[tree.floor_trail[0, count]] = tree.floor_trail[1, count]
    for i in range(sections.first_home[buffer], sections.first_home[buffer + 1]):
        tree.totals[sections.homes[i]] += sections.sizes[buffer]
    for s in range(sections.spans[0, buffer], sections.spans[1, buffer] - 1):
        tree.cuts[s] += 1
    tree.offsets[buffer] = UNPLACED
    counters[LOW_COUNT], counters[FLOOR_COUNT] = frame[LOWS], frame[FLOORS]
    counters[COMPONENT_COUNT], counters[POOL_COUNT] = frame[COMPONENTS], frame[POOL]
    if frame[IS_BARE]:
        frame[AT] = FAR
