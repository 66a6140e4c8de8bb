"""The loops of a program, as seen from its instructions and points."""

from __future__ import annotations

import math

from hybridalloc.program import Loop, Program


class Loops:
    """Which loops are around what.

    A *body* is the innermost loop that something lies in, ``None`` outside all loops.
    """

    def __init__(self, program: Program) -> None:
        self._around: list[tuple[Loop, ...]] = [()] * (len(program) + 1)
        for loop in program.loops:
            for t in range(loop.start, loop.end):
                self._around[t] = (*self._around[t], loop)

    def around(self, t: int) -> tuple[Loop, ...]:
        """The loops around an instruction, outer first."""
        return self._around[t]

    def around_both(self, one: int, other: int) -> tuple[Loop, ...]:
        """The loops around two instructions, outer first."""
        return tuple(x for x in self._around[one] if x in self._around[other])

    def around_body(self, body: Loop | None) -> tuple[Loop, ...]:
        """The body and the loops around it, outer first."""
        if body is None:
            return ()
        around = self._around[body.start]
        return around[: around.index(body) + 1]

    def trips(self, body: Loop | None) -> float:
        """How often the body runs in one run of the program; 1 outside loops."""
        return float(math.prod(loop.trip_count for loop in self.around_body(body)))

    def inner(self, t: int, body: Loop | None) -> Loop | None:
        """The outermost loop of those in the body that are around an instruction."""
        depth = len(self.around_body(body))
        return next(iter(self._around[t][depth:]), None)

    def before(self, t: int, body: Loop | None) -> int:
        """The last point in the body before the loop that holds ``t``, or before it."""
        inner = self.inner(t, body)
        return inner.start if inner else t

    def after(self, t: int, body: Loop | None) -> int:
        """The first point in the body after the loop that holds ``t``, or after it."""
        inner = self.inner(t, body)
        return inner.end if inner else t + 1

    def outside_before(self, point: int, body: Loop | None) -> int:
        """The point, or the start of the loop in the body that it lies within."""
        loop = self._foreign(point, body)
        return loop.start if loop else point

    def outside_after(self, point: int, body: Loop | None) -> int:
        """The point, or the end of the loop in the body that it lies within."""
        loop = self._foreign(point, body)
        return loop.end if loop else point

    def _foreign(self, point: int, body: Loop | None) -> Loop | None:
        """The outermost loop strictly around the point that is not around the body."""
        for loop in self._around[point]:
            if loop.start < point and not (body and loop.encloses(body)):
                return loop
        return None
