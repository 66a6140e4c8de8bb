"""Where stays are placed in the game, and who is shifted for that."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import itemgetter

from hybridalloc.game.game import Game
from hybridalloc.game.held import Held, Holding
from hybridalloc.game.room import Range
from hybridalloc.packing.space import Span

TRIES = 8
"""At how many places room is made, at most."""
MOST_SHIFTS = 32
"""How many stays are shifted for one, at most."""
Placed = tuple[Held, tuple[Held, ...]]
"""A stay that has its place, and all others."""


def place(game: Game, holding: Holding, one: Held) -> Holding | None:
    """Find a place for a stay that begins, and hold it there.

    It is the low end of the smallest gap: best where it is in the way of none that may
    yet stay on or has yet to be copied back, or of none that may stay on, or anywhere.
    """
    taken = game.room.boxes(holding.held)
    present = [holding.held[i] for i in holding.live.values()]
    longer = [(x, more) for x in present if (more := game.longer(x))]
    hoped = [*taken, *(game.room.box(x, span) for x, (_, span) in longer)]
    owing = [x for x in present if x.head.end < x.grown.stay.deadline]
    back = [game.room.box(x, (x.head.end, x.grown.stay.deadline)) for x in owing]
    for boxes in ([*hoped, *back], hoped, taken):
        unit = game.room.best_fit(one.head.buffer, one.spans, boxes)
        if unit is not None:
            return holding.with_new(one.at(unit * game.room.unit))
    if not game.config.shifts or not (made := make_room(game, holding.held, one)):
        return None
    placed, others = made
    return replace(holding, held=others).with_new(placed)


def keep(game: Game, holding: Holding, grown: Held, span: Span) -> Holding | None:
    """Let the present stay of a buffer go on, where it is or elsewhere.

    Args:
        game: Which.
        holding: All stays.
        grown: The stay as it would be.
        span: When it needs its place besides.
    """
    buffer = grown.head.buffer
    at, others = holding.live[buffer], holding.others(buffer)
    taken = game.room.boxes(others)
    if game.room.is_free(buffer, grown.offset // game.room.unit, [span], taken):
        return holding.with_changed(buffer, grown)
    if not game.config.shifts:
        return None
    unit = game.room.best_fit(buffer, grown.spans, taken)
    if unit is not None:
        return holding.with_changed(buffer, grown.at(unit * game.room.unit))
    made = make_room(game, others, grown)
    if made is None:
        return None
    placed, others = made
    return replace(holding, held=(*others[:at], placed, *others[at:]))


def make_room(game: Game, held: tuple[Held, ...], one: Held) -> Placed | None:
    """Find a place for a stay that others can leave to it.

    Tried first is where the fewest units have to be placed anew.
    """
    room, buffer, spans = game.room, one.head.buffer, one.spans
    blocking = {
        index: ranges[0]
        for index, x in enumerate(held)
        if (ranges := room.blocked_by(buffer, spans, room.boxes([x])))
    }
    always = room.blocked_always(buffer)
    least, most = room.limits(buffer, spans)
    if least > most:
        return None
    beside = [unit for x in (*blocking.values(), *always) for unit in (x[0] - 1, x[1])]
    units = [least, most, *(unit for unit in beside if least < unit < most)]
    costs = [(_cost(game, held, blocking, always, unit), unit) for unit in units]
    for cost, unit in islice(sorted(costs, key=itemgetter(0)), TRIES):
        if cost < math.inf and (made := _clear(game, held, one, unit, blocking)):
            return made
    return None


def _cost(
    game: Game,
    held: tuple[Held, ...],
    blocking: Mapping[int, Range],
    always: Sequence[Range],
    unit: int,
) -> float:
    """The units in the way of a stay that begins at one; infinite if some must stay."""
    if any(low <= unit < high for low, high in always):
        return math.inf
    there = [held[i] for i, (low, high) in blocking.items() if low <= unit < high]
    if any(x in game.fixed for x in there):
        return math.inf
    return sum(game.room.size(x.head.buffer) for x in there)


def _clear(
    game: Game,
    held: tuple[Held, ...],
    one: Held,
    unit: int,
    blocking: Mapping[int, Range],
) -> Placed | None:
    """Place a stay at a unit, and anew all that is in its way, the largest first."""
    room = game.room
    shifted = [i for i, (low, high) in blocking.items() if low <= unit < high]
    if len(shifted) > MOST_SHIFTS:
        return None
    placed = one.at(unit * room.unit)
    boxes = {i: room.boxes([x]) for i, x in enumerate(held) if i not in shifted}
    moved = list(held)
    for i in sorted(shifted, key=lambda i: -room.size(held[i].head.buffer)):
        taken = [box for group in boxes.values() for box in group]
        taken += room.boxes([placed])
        found = room.best_fit(held[i].head.buffer, held[i].spans, taken)
        if found is None:
            return None
        moved[i] = held[i].at(found * room.unit)
        boxes[i] = room.boxes([moved[i]])
    return placed, tuple(moved)
