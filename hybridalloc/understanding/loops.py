"""Loops around a stay: where its ends may lie (docs/model.md, Loops)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hybridalloc.program import Loop, Program


def around(program: Program, first: int, last: int) -> list[Loop]:
    """The loops around both instructions, outer first."""
    return [x for x in program.loops if x.start <= first and last < x.end]


def trips(program: Program, body: Loop | None) -> int:
    """How often a body runs in one run of the program; 1 outside all loops."""
    loops = () if body is None else around(program, body.start, body.end - 1)
    return math.prod(loop.trip_count for loop in loops)


def start_in(program: Program, t: int, body: Loop | None) -> int:
    """The point of the body just before an instruction, or the loop that it is in."""
    inner = next(_inner(program, t, body), None)
    return inner.start if inner else t


def end_in(program: Program, t: int, body: Loop | None) -> int:
    """The point of the body just after an instruction, or the loop that it is in."""
    inner = next(_inner(program, t, body), None)
    return inner.end if inner else t + 1


def point_before(program: Program, point: int, body: Loop | None) -> int:
    """The last point of the body that is not after a point."""
    inner = next((x for x in _inner(program, point, body) if x.start < point), None)
    return inner.start if inner else point


def point_after(program: Program, point: int, body: Loop | None) -> int:
    """The first point of the body that is not before a point."""
    inner = next((x for x in _inner(program, point, body) if x.start < point), None)
    return inner.end if inner else point


def _inner(program: Program, t: int, body: Loop | None) -> Iterator[Loop]:
    """The loops within the body that are around an instruction, outer first."""
    for loop in program.loops:
        if loop.start <= t < loop.end and not (body and loop.encloses(body)):
            yield loop
