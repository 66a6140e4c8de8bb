"""Which loop bodies a point or a copy belongs to (docs/model.md, "Loops")."""

from __future__ import annotations

from collections.abc import Iterator

from hybridalloc.program import Loop, Program


class LoopNest:
    """The loops of a program, by point."""

    def __init__(self, program: Program) -> None:
        self._innermost: list[Loop | None] = [None] * len(program)
        self.outer: dict[Loop, Loop | None] = {}
        """The innermost loop around each loop."""
        self.depth: dict[Loop, int] = {}
        """How many loops lie around each loop."""
        for loop in program.loops:
            outer = self._innermost[loop.start]
            self.outer[loop] = outer
            self.depth[loop] = 0 if outer is None else self.depth[outer] + 1
            self._innermost[loop.start : loop.end] = [loop] * (loop.end - loop.start)

    def around(self, t: int) -> Iterator[Loop]:
        """The loops that repeat instruction ``t``, innermost first."""
        loop = self._innermost[t] if t < len(self._innermost) else None
        while loop is not None:
            yield loop
            loop = self.outer[loop]

    def strictly_around(self, point: int) -> Iterator[Loop]:
        """The loops between whose first and last point this one lies, innermost first.

        >>> from hybridalloc.program import Instruction
        >>> loop = Loop(1, 3, trip_count=2)
        >>> nest = LoopNest(Program("p", (Instruction("i"),) * 4, (), (loop,)))
        >>> [list(nest.strictly_around(point)) == [loop] for point in (1, 2, 3)]
        [False, True, False]
        """
        return (loop for loop in self.around(point) if loop.start < point)

    def left_or_entered_by(self, issue: int, due: int) -> Loop | None:
        """The innermost loop with one end of a copy inside and the other outside.

        Returns:
            None if both ends lie in the same loop body or both outside of all.
        """
        for loop in self.strictly_around(issue):
            if due > loop.end:
                return loop
        for loop in self.strictly_around(due):
            if issue < loop.start:
                return loop
        return None

    def body_of_copy(self, issue: int, due: int) -> Loop | None:
        """The innermost loop in whose every iteration a copy happens; None: outside.

        An end at a loop's first or last point belongs to the body only if the other
        end lies strictly between.
        """
        bodies = [x for x in self.strictly_around(issue) if due <= x.end]
        bodies += [x for x in self.strictly_around(due) if x.start <= issue]
        return max(bodies, key=self.depth.__getitem__, default=None)
