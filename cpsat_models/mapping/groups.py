"""Groups: stays that must be at one offset, and during which of their pieces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from hybridalloc.cpsat_models.mapping.extraction import Draft, Piece, Stay
from hybridalloc.cpsat_models.mapping.variables import Lit
from hybridalloc.packing.block import Block
from hybridalloc.program import Program


@dataclass(frozen=True, slots=True)
class Group:
    """Stays at one offset, each during some of its pieces."""

    stays: tuple[Stay, ...]
    spans: tuple[tuple[int, int], ...]
    """Of each stay, the pieces that count: from the first to before the last."""
    size: int
    fixed: int | None

    @property
    def times(self) -> Iterator[tuple[int, int]]:
        """When each stay is there."""
        for stay, (first, last) in zip(self.stays, self.spans, strict=True):
            yield stay.pieces[first].start, stay.pieces[last - 1].end

    @property
    def literals(self) -> Iterator[Lit]:
        """What says so."""
        for stay, (first, last) in zip(self.stays, self.spans, strict=True):
            for piece in stay.pieces[first:last]:
                yield from piece.literals

    def overlaps_itself(self) -> bool:
        """Whether two of its stays are there at one time."""
        times = sorted(self.times)
        return self.size > 0 and any(x[1] > y[0] for x, y in pairwise(times))

    def at(self, point: int) -> Group:
        """As if it were there during one instruction only."""
        pieces = [Piece(point, point + 1, ())]
        return replace(
            self, stays=(replace(self.stays[0], pieces=pieces),), spans=((0, 1),)
        )

    def block(self) -> Block:
        """As what is packed."""
        return Block(
            tuple((0, self.size, start, end) for start, end in self.times), self.fixed
        )

    def shortened(self) -> Iterator[Group]:
        """With fewer pieces, the shortest first; as it is if it is more than a stay."""
        first, last = self.spans[0]
        if len(self.stays) == 1 and last - first > 1:
            middle = (first + last) // 2
            for span in (
                *((middle, last), (first, middle)),
                *((first + 1, last), (first, last - 1)),
            ):
                yield replace(self, spans=(span,))


def groups_of(program: Program, draft: Draft) -> list[Group]:
    """The stays of a draft, those that share a place as one group."""
    root = list(range(len(draft.stays)))
    for first, *others in draft.together:
        for other in others:
            root = [root[first] if x == root[other] else x for x in root]
    members: dict[int, list[Stay]] = {}
    for stay, number in zip(draft.stays, root, strict=True):
        members.setdefault(number, []).append(stay)
    groups = []
    for stays in members.values():
        buffer = program.buffers[stays[0].buffer]
        spans = tuple((0, len(stay.pieces)) for stay in stays)
        groups.append(Group(tuple(stays), spans, buffer.size, buffer.offset))
    return groups
