"""The orders in which a map may list the allocations that are copied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from hybridalloc.baselines.brute_force.costs import Row

Rows = tuple[Row, ...]
"""The copies of one allocation, which stand together in the list."""


@dataclass(frozen=True, slots=True)
class Order:
    """Allocations in an order, of which some pairs must keep theirs.

    Those pairs issue copies to one queue at one point. Of the orders that agree on
    them, which all take the same time, it is one.
    """

    listed: tuple[Rows, ...] = ()
    numbers: tuple[int, ...] = ()
    """In which order they joined."""
    before: tuple[tuple[int, int], ...] = ()
    """The pairs, by these numbers."""

    @property
    def rows(self) -> list[Row]:
        """All copies in order."""
        return [row for rows in self.listed for row in rows]

    def joined_by(self, rows: Rows) -> Iterator[Order]:
        """With one more allocation, in each way that may make a difference."""
        number = len(self.numbers)
        rivals = [
            other
            for other, its in zip(self.numbers, self.listed, strict=True)
            if _are_rivals(its, rows)
        ]
        if not rivals:
            listed, numbers = (*self.listed, rows), (*self.numbers, number)
            yield Order(listed, numbers, self.before)
            return
        known = dict(zip(self.numbers, self.listed, strict=True)) | {number: rows}
        for signs in product((False, True), repeat=len(rivals)):
            pairs = tuple(
                (other, number) if sign else (number, other)
                for other, sign in zip(rivals, signs, strict=True)
            )
            before = (*self.before, *pairs)
            order = _sorted(number + 1, before)
            if order is not None:
                yield Order(tuple(known[i] for i in order), order, before)


def _are_rivals(one: Rows, other: Rows) -> bool:
    return any(a[1:3] == b[1:3] for a in one for b in other)


def _sorted(count: int, before: Sequence[tuple[int, int]]) -> tuple[int, ...] | None:
    """So many numbers in an order that keeps the pairs, if there is any."""
    left, order = list(range(count)), list[int]()
    while left:
        free = [x for x in left if not any(b == x and a in left for a, b in before)]
        if not free:
            return None
        order.append(free[0])
        left.remove(free[0])
    return tuple(order)
