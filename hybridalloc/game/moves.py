"""The moves of the game: what is held after each legal action."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from hybridalloc.game.action import Action
from hybridalloc.game.copying import awaited, evicted, left_there, prefetched
from hybridalloc.game.game import Game, Step
from hybridalloc.game.growth import NONE
from hybridalloc.game.held import Held, Holding
from hybridalloc.game.placing import keep, place
from hybridalloc.memory_map import Allocation


def after(game: Game, holding: Holding, step: Step) -> dict[Action, Holding]:
    """What is held after each legal action; nothing of others."""
    current = holding.of(step.buffer)
    if current and current.grown.stay.last >= step.use:
        return {Action.NO_COPY: holding}  # reserved as its loop began
    begins = game.growth.produced[game.use(step)] != NONE
    stay = begin if begins else go_on
    found = {
        Action.NO_COPY: stay(game, holding, step),
        Action.COPY: copy(game, holding, step),
        Action.DROP: drop(game, holding, step),
    }
    return {action: held for action, held in found.items() if held is not None}


def begin(game: Game, holding: Holding, step: Step) -> Holding | None:
    """NoCopy: a stay begins with a whole write."""
    left = drop(game, holding, step)
    if left is None:
        return None
    grown = game.growth.stays[game.growth.produced[game.use(step)]]
    span = grown.stay.start, grown.stay.end
    return place(game, left, Held(grown, (Allocation(step.buffer, 0, *span),)))


def go_on(game: Game, holding: Holding, step: Step) -> Holding | None:
    """NoCopy: the present stay of a buffer serves its next access too."""
    current = holding.of(step.buffer)
    longer = None if current is None else game.longer(current)
    return None if longer is None else keep(game, holding, *longer)


def copy(game: Game, holding: Holding, step: Step) -> Holding | None:
    """Copy: a stay begins with a prefetch, or with what the previous run left."""
    left = drop(game, holding, step)
    if left is None:
        return None
    placed = (place(game, left, one) for one in _copies(game, left, step))
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
        yield from (one for cost, one in sorted(late, key=itemgetter(0)) if cost <= 0)


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


def _valid_from(holding: Holding, buffer: int) -> int:
    """The first point at which the slow copy of a buffer is up to date."""
    evictions = (
        x.head.eviction
        for x in holding.held
        if x.head.buffer == buffer and x.head.eviction
    )
    return max((x.due + (x.issue == x.due) for x in evictions), default=0)
