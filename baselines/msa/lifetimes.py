"""The accesses of a buffer as XLA sees them: one use for a whole loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from hybridalloc.loops import Loops
from hybridalloc.program import Loop, Program
from hybridalloc.program import Use as Accessed


@dataclass(frozen=True, slots=True)
class Use:
    """Accesses of a buffer that are served from one place: one, or all in a loop."""

    first: int
    """Its first access, as an index into the buffer's uses."""
    last: int
    """Its last access."""
    start: int
    """Time of the instruction, or of the loop's first."""
    end: int
    """Time of the instruction, or of the loop's last."""
    writes: bool
    defines: bool
    """Whether it is one access that overwrites the buffer as a whole."""
    loop: Loop | None = None

    @property
    def due(self) -> int:
        """The time by which copies for it are complete, as XLA has it."""
        return self.start - 1 if self.loop else self.start


@dataclass(frozen=True, slots=True)
class Level:
    """The uses of a buffer in one loop body, or outside all loops."""

    buffer: int
    body: Loop | None
    uses: tuple[Use, ...]
    start: int
    """Time from which the value that precedes them is in slow memory."""
    end: int | None
    """Time at which the last value must be in slow memory, if it must."""


class Lifetimes:
    """The levels of a program's buffers."""

    def __init__(self, program: Program, loops: Loops) -> None:
        self._program = program
        self._loops = loops
        self._listed = {x.name: t for t, x in enumerate(program.instructions)}

    def definition(self, buffer: int) -> int:
        """The time of its first access; for an input, where the schedule lists it.

        XLA's parameters have a place in the schedule, and no copy of one begins
        before. An input without a place is there before the program, at -1.
        """
        its, uses = self._program.buffers[buffer], self._program.uses[buffer]
        if not its.is_input:
            return uses[0].instruction
        listed = self._listed.get(its.name, -1)
        return listed if listed < uses[0].instruction else -1

    def first_end(self, buffer: int) -> int:
        """The time of the last use of its first value, before another takes over."""
        uses, its = self._program.uses[buffer], self._program.buffers[buffer]
        for use in uses if its.is_input else uses[1:]:
            if use.access.writes:
                return use.instruction
        return len(self._program) - 1 if its.is_output else uses[-1].instruction

    def top(self, buffer: int) -> Level:
        """The level on which a buffer lives: in the loop whose trips begin it anew."""
        uses = self._program.uses[buffer]
        body = None
        if uses[0].access.whole and not self._program.buffers[buffer].is_output:
            ends = uses[0].instruction, uses[-1].instruction
            body = next(reversed(self._loops.around_both(*ends)), None)
        return self.level(buffer, body)

    def level(self, buffer: int, body: Loop | None) -> Level:
        """The uses of a buffer in a loop body, or outside all loops."""
        uses = tuple(self._uses(buffer, body))
        if body is not None:
            end = body.end - 1 if self._needed_after(buffer, body) else None
            return Level(buffer, body, uses, body.start, end)
        end = len(self._program)
        is_output = self._program.buffers[buffer].is_output
        start = self.definition(buffer)
        return Level(buffer, None, uses, start, end if is_output else None)

    def _needed_after(self, buffer: int, body: Loop) -> bool:
        """Whether the value at the end of a trip is used in a next trip, or later."""
        uses = self._program.uses[buffer]
        later = next((x for x in uses if x.instruction >= body.end), None)
        for loop in reversed(self._loops.around_body(body)):
            if later and later.instruction < loop.end:
                break
            again = next(x for x in uses if x.instruction >= loop.start)
            if not again.access.whole:
                return True
        if later:
            return not later.access.whole
        return self._program.buffers[buffer].is_output

    def _uses(self, buffer: int, body: Loop | None) -> Iterator[Use]:
        def loop_of(pair: tuple[int, Accessed]) -> Loop | int:
            index, use = pair
            return self._loops.inner(use.instruction, body) or index

        accesses = [
            (index, use)
            for index, use in enumerate(self._program.uses[buffer])
            if body is None or body.start <= use.instruction < body.end
        ]
        for key, group in groupby(accesses, key=loop_of):
            members, loop = list(group), key if isinstance(key, Loop) else None
            (first, use), (last, _) = members[0], members[-1]
            yield Use(
                first=first,
                last=last,
                start=loop.start if loop else use.instruction,
                end=loop.end - 1 if loop else use.instruction,
                writes=any(member.access.writes for _, member in members),
                defines=use.access.whole and loop is None,
                loop=loop,
            )
