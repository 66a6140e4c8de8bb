"""Which rectangles (bytes by instructions) overlap, by a sweep over time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hybridalloc.checker.facts import Placed


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Bytes [low, high) during instructions [start, end), for an allocation."""

    placed: Placed
    low: int
    high: int
    start: int
    end: int


class _Occupied:
    """The rectangles at one moment.

    Those of a valid map are disjoint and kept in order of address, so that a new one
    needs to be compared with its neighbours only; one that overlaps another when it
    comes is kept apart, and compared with every later one.
    """

    def __init__(self) -> None:
        self._lows: list[int] = []
        self._disjoint: list[Rectangle] = []
        self._apart: dict[int, Rectangle] = {}

    def add(self, number: int, new: Rectangle) -> list[Rectangle]:
        """Take in a rectangle; return those that it overlaps."""
        first = bisect_left(self._lows, new.low)
        last = bisect_left(self._lows, new.high)
        if first > 0 and self._disjoint[first - 1].high > new.low:
            first -= 1
        hit = self._disjoint[first:last]
        apart = self._apart.values()
        also = [x for x in apart if x.low < new.high and new.low < x.high]
        if hit:
            self._apart[number] = new
        else:
            self._lows.insert(first, new.low)
            self._disjoint.insert(first, new)
        return hit + also

    def remove(self, number: int, old: Rectangle) -> None:
        """Give back a rectangle."""
        if number in self._apart:
            del self._apart[number]
            return
        position = bisect_left(self._lows, old.low)
        del self._lows[position], self._disjoint[position]


def overlapping(
    rectangles: Iterable[Rectangle],
) -> Iterator[tuple[Rectangle, Rectangle]]:
    """Every pair of rectangles, none of them empty, that share a byte at some time."""
    numbered = list(enumerate(rectangles))
    begin, finish = 1, 0  # what ends at an instruction makes room for what begins
    events = [(x.start, begin, number, x) for number, x in numbered]
    events += [(x.end, finish, number, x) for number, x in numbered]
    occupied = _Occupied()
    for _, kind, number, rectangle in sorted(events, key=lambda event: event[:3]):
        if kind == finish:
            occupied.remove(number, rectangle)
        else:
            for other in occupied.add(number, rectangle):
                yield other, rectangle
