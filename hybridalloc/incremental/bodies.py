"""Points as seen from a loop body: where its copies may begin and end."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.incremental.directory import ints
from hybridalloc.incremental.tables import (
    INNER,
    LOOP_END,
    LOOP_START,
    LOOPS,
    PARENT,
    POINTS,
)
from hybridalloc.jit import compiled


@compiled
def foreign(world: Ints, point: int, body: int) -> int:
    """The outermost loop strictly around a point that is not around a body, or -1."""
    loops, found = ints(world, LOOPS), -1
    loop = ints(world, POINTS)[point, INNER]
    while loop >= 0:
        around = body >= 0 and (
            loops[loop, LOOP_START] <= loops[body, LOOP_START]
            and loops[body, LOOP_END] <= loops[loop, LOOP_END]
        )
        if loops[loop, LOOP_START] < point and not around:
            found = loop
        loop = loops[loop, PARENT]
    return int(found)


@compiled
def outside_before(world: Ints, point: int, body: int) -> int:
    """The point, or the start of the loop in the body that it lies within."""
    loop = foreign(world, point, body)
    return int(ints(world, LOOPS)[loop, LOOP_START]) if loop >= 0 else point


@compiled
def outside_after(world: Ints, point: int, body: int) -> int:
    """The point, or the end of the loop in the body that it lies within."""
    loop = foreign(world, point, body)
    return int(ints(world, LOOPS)[loop, LOOP_END]) if loop >= 0 else point
