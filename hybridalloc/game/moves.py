"""The moves of the game: what is held after each legal action."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import itemgetter

from hybridalloc.game.action import Action
from hybridalloc.game.copying import awaited, evicted, left_there, prefetched
from hybridalloc.game.game import Game, Step
from hybridalloc.game.growth import NONE
from hybridalloc.game.held import Held, Holding
from hybridalloc.game.room import Box
from hybridalloc.memory_map import Allocation
from hybridalloc.packing.space import Span


def after(game: Game, holding: Holding, step: Step) -> dict[Action, Holding]:
    """What is held after each legal action; nothing of others."""
    current = holding.of(step.buffer)
    if current and current.grown.stay.last >= step.use:
        return {Action.NO_COPY: holding}  # reserved as its loop began
    begins = game.growth.produced[game.use(step)] != NONE
    found: dict[Action, Holding | None] = {}
    for action in game.config.actions:
        if action.kind is Action.DROP:
            found[action] = drop(game, holding, step)
        elif action.kind is Action.COPY:
            found[action] = copy(game, holding, step, action.is_high)
        elif begins:
            found[action] = begin(game, holding, step, action.is_high)
        elif action is Action.NO_COPY:
            found[action] = go_on(game, holding, step)
    return {action: held for action, held in found.items() if held is not None}


def begin(game: Game, holding: Holding, step: Step, is_high: bool) -> Holding | None:
    """NoCopy: a stay begins with a whole write."""
    left = drop(game, holding, step)
    if left is None:
        return None
    grown = game.growth.stays[game.growth.produced[game.use(step)]]
    span = grown.stay.start, grown.stay.end
    one = Held(grown, (Allocation(step.buffer, 0, *span),))
    return place(game, left, one, is_high)


def go_on(game: Game, holding: Holding, step: Step) -> Holding | None:
    """NoCopy: the present stay of a buffer serves its next access too."""
    current = holding.of(step.buffer)
    if current is None or (longer := _longer(game, current)) is None:
        return None
    grown, span = longer
    taken = _taken(game, holding.others(current))
    if not game.room.is_free(step.buffer, current.offset, [span], taken):
        return None
    return holding.with_changed(step.buffer, grown)


def copy(game: Game, holding: Holding, step: Step, is_high: bool) -> Holding | None:
    """Copy: a stay begins with a prefetch, or with what the previous run left."""
    left = drop(game, holding, step)
    if left is None:
        return None
    copied = _copies(game, left, step)
    placed = (place(game, left, one, is_high) for one in copied)
    return next((x for x in placed if x is not None), None)


def _copies(game: Game, holding: Holding, step: Step) -> Iterator[Held]:
    """The stays that a copy may begin, the best first, none with a place yet."""
    growth, held, use = game.growth, holding.held, game.use(step)
    valid_from = _valid_from(holding, step.buffer)
    stays = [growth.stays[index] for index in growth.fetched[use]]
    grown = [(x, max(x.stay.earliest, valid_from)) for x in stays]
    for stay, earliest in grown:
        if one := prefetched(game, held, stay, earliest):
            yield one
    most, crossed = game.problem.target.cross_program_prefetches, growth.crossed[use]
    if crossed != NONE and sum(x.grown.is_cross for x in held) < most:
        yield from left_there(game, held, growth.stays[crossed])
    if game.config.waits:
        late = [y for x, earliest in grown for y in awaited(game, held, x, earliest)]
        yield from (one for _, one in sorted(late, key=itemgetter(0)))


def drop(game: Game, holding: Holding, step: Step) -> Holding | None:
    """Drop: the present stay ends, and is copied back to slow memory if need be."""
    ended = evicted(game, holding, step.buffer)
    return ended and ended.without(step.buffer)


def close(game: Game, holding: Holding) -> tuple[Holding, int]:
    """End all stays as the program ends; and a buffer for which that is impossible."""
    issues = {b: holding.held[i].grown.stay.issue for b, i in holding.live.items()}
    for buffer in sorted(issues, key=lambda b: (issues[b], b)):
        ended = evicted(game, holding, buffer)
        if ended is None:
            return holding, buffer
        holding = ended
    return holding, NONE


def place(game: Game, holding: Holding, one: Held, is_high: bool) -> Holding | None:
    """Find a place for a stay, and hold it there.

    Best where it may stay on until its next access, and others may; or else where
    others may; or else wherever it fits.
    """
    buffer, spans = one.head.buffer, list(one.spans)
    taken = _taken(game, holding.held)
    hoped = [*taken, *_hopes(game, holding)]
    longer = _longer(game, one)
    wishes = [([*spans, longer[1]], hoped)] if longer else []
    for times, boxes in (*wishes, (spans, hoped), (spans, taken)):
        offset = game.room.fit(buffer, times, boxes, is_high)
        if offset is not None:
            allocations = tuple(replace(x, offset=offset) for x in one.allocations)
            return holding.with_new(replace(one, allocations=allocations))
    return None


def _longer(game: Game, held: Held) -> tuple[Held, Span] | None:
    """A stay that serves its buffer's next access too, and its place besides."""
    longer = held.grown.longer
    return None if longer == NONE else held.grown_to(game.growth.stays[longer])


def _taken(game: Game, held: Iterable[Held]) -> list[Box]:
    """What stays take."""
    return [game.room.box(x, span) for x in held for span in x.spans]


def _hopes(game: Game, holding: Holding) -> Iterator[Box]:
    """What the present stays would take besides if they went on."""
    for index in holding.live.values():
        if longer := _longer(game, holding.held[index]):
            yield game.room.box(holding.held[index], longer[1])


def _valid_from(holding: Holding, buffer: int) -> int:
    """The first point at which the slow copy of a buffer is up to date."""
    evictions = (
        x.head.eviction
        for x in holding.held
        if x.head.buffer == buffer and x.head.eviction
    )
    return max((x.due + (x.issue == x.due) for x in evictions), default=0)
