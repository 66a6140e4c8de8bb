"""Simple placements of accesses: kept longer, produced there, or prefetched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hybridalloc.memory_map import Allocation, Eviction, Origin
from hybridalloc.packing.space import Span
from hybridalloc.program import Buffer, Loop, Use
from hybridalloc.understanding.setting import Setting


@dataclass(frozen=True, slots=True)
class Stretch:
    """Accesses of a buffer in a row, by position among its accesses."""

    buffer: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Draft:
    """An allocation without an offset."""

    allocation: Allocation
    extends: int | None = None
    """The allocation of the map, by index, that it takes the place of."""
    offset: int | None = None
    """The only one that will do, if so."""

    @property
    def spans(self) -> list[Span]:
        """When it needs its place."""
        return [(self.allocation.start, self.allocation.end)]


class Drafts:
    """The simple placements of one stretch of accesses in a map."""

    def __init__(self, setting: Setting, stretch: Stretch) -> None:
        self._setting = setting
        self._program = setting.problem.program
        self._loops = setting.loops
        self._stretch = stretch
        self._uses = self._program.uses[stretch.buffer]
        self._accesses = self._uses[stretch.first : stretch.last + 1]
        self._first = self._accesses[0].instruction
        self._last = self._accesses[-1].instruction
        self._around = self._loops.around_both(self._first, self._last)

    @property
    def _buffer(self) -> Buffer:
        return self._program.buffers[self._stretch.buffer]

    @property
    def body(self) -> Loop | None:
        """The innermost loop around all of them."""
        return self._around[-1] if self._around else None

    @property
    def span(self) -> Span:
        """The least that any placement takes: from the first access to the last."""
        start = self._loops.before(self._first, self.body)
        return start, self._loops.after(self._last, self.body)

    @property
    def copied(self) -> bool:
        """Whether a copy from slow memory must bring the content."""
        return not self._accesses[0].access.whole

    @property
    def hidden_span(self) -> Span:
        """The same, begun early enough to hide the prefetch that it needs, if any."""
        start, end = self.span
        if self.copied:
            copy_s = self._setting.copy_s(self._buffer)
            found = self._setting.issues(start, copy_s, self.body)[0]
            start = min(start, max(found, self._earliest(self.body)))
        return start, max(end, start + 1)

    def all(self) -> Iterator[Draft]:
        """Every placement to try, whether there is room for it or not."""
        yield from self._kept_longer()
        yield from self._begun_earlier()
        yield from self._anew()
        for loop in self._around:
            yield from self._during(loop)

    def _kept_longer(self) -> Iterator[Draft]:
        """The stay that serves the access before goes on."""
        if self._stretch.first == 0:
            return
        before = self._uses[self._stretch.first - 1].instruction
        if self._loops.around_both(before, self._last) != self._around:
            return
        for index, former in enumerate(self._setting.memory_map.allocations):
            serves = former.ready <= before < former.end
            if former.buffer == self._stretch.buffer and serves:
                end = max(former.end, self.span[1])
                for longer in self._ends(replace(former, end=end), self.body):
                    yield Draft(longer, index, former.offset)

    def _begun_earlier(self) -> Iterator[Draft]:
        """The stay that serves the access after begins before these."""
        if self._stretch.last + 1 == len(self._uses):
            return
        after = self._uses[self._stretch.last + 1].instruction
        if self._loops.around_both(self._first, after) != self._around:
            return
        for index, latter in enumerate(self._setting.memory_map.allocations):
            serves = latter.ready <= after < latter.end
            if latter.buffer == self._stretch.buffer and latter.has_copy and serves:
                for draft in self._anew(latter.end):
                    yield replace(draft, extends=index)

    def _anew(self, end: int = 0) -> Iterator[Draft]:
        """A stay of its own, produced or prefetched, until a point or the last access.

        Args:
            end: The point, if it is later than the last access.
        """
        if self.copied:
            yield from self._prefetched(self._first, self.body, end)
        else:
            yield from self._evicted(self._first, self._first, self.body, end)

    def _prefetched(self, t: int, body: Loop | None, until: int = 0) -> Iterator[Draft]:
        """A copy from slow memory, due just before an instruction."""
        ready = self._loops.before(t, body)
        copy_s = self._setting.copy_s(self._buffer)
        earliest = min(self._earliest(body), ready)
        points = [*self._setting.issues(ready, copy_s, body), ready]
        for start in dict.fromkeys(max(point, earliest) for point in points):
            yield from self._evicted(start, ready, body, until)

    def _during(self, loop: Loop) -> Iterator[Draft]:
        """A stay for the whole of a loop, in the loop around it."""
        own = (
            a
            for a in self._setting.memory_map.allocations
            if a.buffer == self._stretch.buffer
        )
        if any(a.start < loop.end and loop.start < a.end for a in own):
            return
        outer = self._loops.around_body(loop)[:-1]
        yield from self._prefetched(loop.start, outer[-1] if outer else None)

    def _evicted(
        self, start: int, ready: int, body: Loop | None, until: int = 0
    ) -> Iterator[Draft]:
        """Allocations from a point on, with the eviction that they need, if any."""
        end = max(self._loops.after(self._last, body), start + 1, until)
        origin = Origin.PREFETCHED
        if not self.copied and start == ready == self._first:
            origin = Origin.PRODUCED
        allocation = Allocation(self._stretch.buffer, None, start, end, origin, ready)
        for ended in self._ends(allocation, body):
            yield Draft(ended)

    def _ends(self, allocation: Allocation, body: Loop | None) -> Iterator[Allocation]:
        """The allocation with each eviction worth a try, if it needs one."""
        writes = [
            use.instruction
            for use in self._uses
            if allocation.ready <= use.instruction < allocation.end
            and use.access.writes
        ]
        if not writes or not self._needed_after(allocation, body):
            yield replace(allocation, eviction=None)
            return
        issue = self._loops.after(writes[-1], body)
        deadline = self._deadline(allocation.end, body)
        copy_s = self._setting.copy_s(self._buffer, evicted=True)
        points = [*self._setting.dues(issue, copy_s, body), deadline]
        for due in dict.fromkeys(max(issue, min(x, deadline)) for x in points):
            end = max(allocation.end, due)
            yield replace(allocation, end=end, eviction=Eviction(issue, due))

    def _needed_after(self, allocation: Allocation, body: Loop | None) -> bool:
        """Whether its content is used later, from slow memory."""
        later = self._after(allocation.end)
        if later is None or not later.access.whole:
            return later is not None or self._buffer.is_output or self._carried(body)
        return False

    def _carried(self, body: Loop | None) -> bool:
        """Whether the next iteration of its body begins with what it holds."""
        if body is None:
            return False
        inside = (x for x in self._uses if body.start <= x.instruction < body.end)
        return not next(inside).access.whole

    def _deadline(self, end: int, body: Loop | None) -> int:
        """The last point at which an eviction may be due."""
        last = body.end if body else len(self._program)
        later = self._after(end)
        point = min(last, later.instruction) if later else last
        starts = [
            a.start
            for a in self._setting.memory_map.allocations
            if a.buffer == self._stretch.buffer and a.start >= end
        ]
        return max(end, self._loops.outside_before(min([point, *starts]), body))

    def _after(self, point: int) -> Use | None:
        return next((use for use in self._uses if use.instruction >= point), None)

    def _earliest(self, body: Loop | None) -> int:
        """The first point of the body at which the slow copy is what is needed."""
        first = body.start if body else 0
        written = [
            self._loops.after(use.instruction, body)
            for use in self._uses[: self._stretch.first]
            if use.access.writes
        ]
        evicted = [
            a.eviction.due
            for a in self._setting.memory_map.allocations
            if a.buffer == self._stretch.buffer
            and a.eviction
            and a.eviction.due <= self._first
        ]
        return max([first, *written, *evicted])
