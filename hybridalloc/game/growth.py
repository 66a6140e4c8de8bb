"""How stays grow in the game: from their first access on, one access at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

from hybridalloc.loops import Loops
from hybridalloc.pins import free
from hybridalloc.problem import Problem
from hybridalloc.program import Loop
from hybridalloc.stays import Lifetime, Stay, cross_program_stays

MOST_ACCESSES = 256
"""The most accesses that one allocation of the game serves, loops apart."""
NONE = -1


@dataclass(frozen=True, slots=True)
class Grown:
    """A stay that the game may come to hold."""

    stay: Stay
    is_cross: bool
    """Whether the previous run leaves it in fast memory."""
    is_last: bool
    """Whether its buffer has no later access."""
    longer: int
    """The one that serves the buffer's next access too, as an index; or ``NONE``."""
    longest: int
    """The one that serves as many of its next accesses as may be."""


@dataclass(frozen=True)
class Growth:
    """All stays that may come up in a game of one problem.

    Uses are counted over all buffers, each buffer's in schedule order.
    """

    stays: tuple[Grown, ...]
    first_use: tuple[int, ...]
    """(buffers + 1,): where the uses of each begin."""
    produced: tuple[int, ...]
    """(uses,): the stay that begins with this whole write, or ``NONE``."""
    fetched: tuple[tuple[int, ...], ...]
    """(uses,): the stays that begin with a prefetch for this access: within the
    innermost loop around it, and then before one loop after the other."""
    crossed: tuple[int, ...]
    """(uses,): the stay that begins with this access because the previous run has
    left its buffer there, or ``NONE``."""


def grow(problem: Problem) -> Growth:
    """Find the stays that may come up in a game."""
    return _Grower(problem).growth()


def played(problem: Problem) -> list[int]:
    """The buffers whose accesses are decided on.

    One whose fixed offset is not aligned has no place in fast memory.
    """
    buffers, unit = problem.program.buffers, problem.target.fast.alignment
    return [x for x in free(problem) if (buffers[x].offset or 0) % unit == 0]


class _Grower:
    def __init__(self, problem: Problem) -> None:
        self._problem, self._loops = problem, Loops(problem.program)
        counts = map(len, problem.program.uses)
        self._first_use = (0, *accumulate(counts))
        self._stays: list[Grown] = []
        self._index: dict[tuple[object, ...], int] = {}

    def growth(self) -> Growth:
        count = self._first_use[-1]
        produced, crossed = [NONE] * count, [NONE] * count
        fetched: list[tuple[int, ...]] = [()] * count
        eligible = {x.buffer for x in cross_program_stays(self._problem, self._loops)}
        for buffer in played(self._problem):
            lifetime = Lifetime(self._problem.program, self._loops, buffer)
            for k, use in enumerate(self._problem.program.uses[buffer]):
                at = self._first_use[buffer] + k
                bodies = (*reversed(self._loops.around(use.instruction)), None)
                if use.access.whole:
                    produced[at] = self._begin(lifetime, k, bodies[0])
                    continue
                begun = [self._begin(lifetime, k, body) for body in bodies]
                fetched[at] = tuple(dict.fromkeys(x for x in begun if x != NONE))
                if k == 0 and buffer in eligible:
                    crossed[at] = self._begin(lifetime, k, None, is_cross=True)
        return Growth(
            tuple(self._stays),
            self._first_use,
            tuple(produced),
            tuple(fetched),
            tuple(crossed),
        )

    def _begin(
        self, lifetime: Lifetime, use: int, body: Loop | None, is_cross: bool = False
    ) -> int:
        """The stay of one access in a body, with all that it may grow to."""
        chain = list(self._chain(lifetime, use, body, is_cross))
        longer = longest = NONE
        for stay in reversed(chain):
            key = stay.buffer, stay.first, stay.last, stay.body, is_cross
            if key not in self._index:
                at = self._index[key] = len(self._stays)
                longest = at if longest == NONE else longest
                is_last = stay.last + 1 == len(lifetime)
                self._stays.append(Grown(stay, is_cross, is_last, longer, longest))
            longer = self._index[key]
            longest = self._stays[longer].longest
        return longer

    def _chain(
        self, lifetime: Lifetime, first: int, body: Loop | None, is_cross: bool
    ) -> Iterator[Stay]:
        last, uses = first, self._problem.program.uses[lifetime.buffer]
        while last < min(len(uses), first + MOST_ACCESSES):
            stay = lifetime.stay(first, last, body)
            left = body is not None and uses[last].instruction >= body.end
            again = last > first and uses[last].access.whole
            if stay is None or stay.first != first or left or again:
                return
            yield replace(stay, start=0, earliest=0) if is_cross else stay
            last = stay.last + 1
