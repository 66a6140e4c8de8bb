"""Why stretches of accesses are not served from fast memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from hybridalloc.memory_map import Origin
from hybridalloc.program import Memory
from hybridalloc.understanding.drafts import Drafts, Stretch
from hybridalloc.understanding.explanation import (
    AccessEffect,
    Barrier,
    Blocker,
    Miss,
    Trial,
    Verdict,
)
from hybridalloc.understanding.setting import Room, Setting
from hybridalloc.understanding.trying import Ground, Tried, place

_MOST_PARTS = 4
"""How many parts of a stretch to try to place, those first that save most."""
_LONGEST = 16
"""Stretches with more accesses are cut only into parts of 1, 2, 4, ... of them."""


@dataclass(frozen=True, slots=True)
class _Trade:
    """What would come of taking others out of the way."""

    blockers: tuple[int, ...]
    """Allocations of the map, by index."""
    loss_s: float | None
    """Seconds that the run takes longer without them."""
    tried: Tried
    """The placement in their place."""

    @property
    def change_s(self) -> float:
        """Seconds that the run takes longer with the placement."""
        return self.tried.trial.change_s if self.tried.trial else math.inf

    @property
    def pays(self) -> bool:
        """Whether the run is faster, and not only because they are gone."""
        return self.change_s < min(0.0, self.loss_s or 0.0)

    @property
    def rank(self) -> tuple[bool, float]:
        """Those that pay first, the best of them; then those with the fewest to go."""
        return not self.pays, self.change_s if self.pays else len(self.blockers)


_NO_TRADE = _Trade((), None, Tried(None, None))


def misses(
    setting: Setting,
    buffer: int,
    accesses: Sequence[AccessEffect],
    barrier: Barrier | None,
) -> tuple[Miss, ...]:
    """Each stretch of accesses that the map serves from slow memory, and why.

    Args:
        setting: The map.
        buffer: Its index.
        accesses: All accesses of the buffer.
        barrier: Why the buffer can never be in fast memory, if so.
    """
    stretches = []
    for fast, group in groupby(enumerate(accesses), key=lambda pair: pair[1].fast):
        if not fast:
            positions = [position for position, _ in group]
            stretches.append(Stretch(buffer, positions[0], positions[-1]))
    if not stretches:
        return ()
    program = setting.problem.program
    immovable = {i for i, x in enumerate(program.buffers) if x.memory is Memory.FAST}
    worths = [setting.serving.worth_of(a) for a in setting.memory_map.allocations]
    room = Room(setting, worths, immovable | {buffer})
    ground = Ground(setting, setting, room)
    return tuple(_miss(ground, stretch, accesses, barrier) for stretch in stretches)


def _miss(
    ground: Ground,
    stretch: Stretch,
    accesses: Sequence[AccessEffect],
    barrier: Barrier | None,
) -> Miss:
    saving_s = _saving(accesses, stretch)
    if barrier is not None:
        return Miss(stretch.first, stretch.last, saving_s, Verdict.BARRED)
    if saving_s <= 0:
        return Miss(stretch.first, stretch.last, saving_s, Verdict.NOTHING_TO_GAIN)
    tried = place(ground, stretch)
    gains = tried.trial is not None and tried.trial.change_s < 0
    trade = _NO_TRADE if gains else _best_trade(ground, stretch)
    return Miss(
        first=stretch.first,
        last=stretch.last,
        saving_s=saving_s,
        verdict=_verdict(tried, trade),
        placed=tried.trial,
        part=None if gains else _part(ground, stretch, accesses),
        violation=tried.violation or trade.tried.violation,
        blockers=tuple(_blocker(ground, index) for index in trade.blockers),
        blockers_loss_s=trade.loss_s,
        trade=trade.tried.trial,
    )


def _saving(accesses: Sequence[AccessEffect], stretch: Stretch) -> float:
    return math.fsum(x.saving_s for x in accesses[stretch.first : stretch.last + 1])


def _verdict(tried: Tried, trade: _Trade) -> Verdict:
    if tried.trial is not None and tried.trial.change_s < 0:
        return Verdict.ROOM
    if trade.pays:
        return Verdict.TRADE
    if tried.trial is not None:
        return Verdict.COPIES
    if tried.violation is not None:
        return Verdict.RULES
    return Verdict.TAKEN if trade.blockers else Verdict.FIXED


def _best_trade(ground: Ground, stretch: Stretch) -> _Trade:
    """Who could give way: while it is accessed, or while its copy is hidden as well."""
    drafts = Drafts(ground.setting, stretch)
    buffer = ground.setting.problem.program.buffers[stretch.buffer]
    spans = dict.fromkeys((drafts.span, drafts.hidden_span))
    found = [ground.room.in_the_way(buffer, [span]) for span in spans]
    trades = [
        _trade(ground, stretch, _with_their_tails(ground, blockers))
        for blockers in dict.fromkeys(found)
        if blockers
    ]
    return min(trades, key=lambda trade: trade.rank, default=_NO_TRADE)


def _with_their_tails(ground: Ground, found: tuple[int, ...]) -> tuple[int, ...]:
    """With both allocations of each cross-program prefetch among them."""
    allocations = ground.origin.memory_map.allocations
    crossing = {
        allocations[i].buffer
        for i in found
        if allocations[i].origin is Origin.CROSS_PROGRAM
    }
    return tuple(
        i
        for i, x in enumerate(allocations)
        if i in found or (x.origin is Origin.CROSS_PROGRAM and x.buffer in crossing)
    )


def _trade(ground: Ground, stretch: Stretch, blockers: tuple[int, ...]) -> _Trade:
    cleared = ground.without(blockers)
    loss_s = ground.origin.change_s(cleared.setting.simulation)
    return _Trade(blockers, loss_s, place(cleared, stretch))


def _blocker(ground: Ground, index: int) -> Blocker:
    allocation = ground.origin.memory_map.allocations[index]
    buffer = ground.origin.problem.program.buffers[allocation.buffer]
    worth_s = ground.room.worths[index]
    return Blocker(allocation, index, buffer.name, buffer.size, worth_s)


def _part(
    ground: Ground, stretch: Stretch, accesses: Sequence[AccessEffect]
) -> Trial | None:
    """The best placement of some of the accesses that makes the program faster."""
    parts = [part for part in _parts(stretch) if _saving(accesses, part) > 0]
    parts.sort(key=lambda part: -_saving(accesses, part))
    buffer = ground.setting.problem.program.buffers[stretch.buffer]
    best: Trial | None = None
    tried = 0
    for part in parts:
        span = Drafts(ground.setting, part).span
        if tried == _MOST_PARTS or ground.room.offset(buffer, [span]) is None:
            continue
        tried += 1
        trial = place(ground, part).trial
        if trial and trial.change_s < (best.change_s if best else 0.0):
            best = trial
    return best


def _parts(stretch: Stretch) -> Iterator[Stretch]:
    """Accesses in a row, not all of them."""
    count = stretch.last - stretch.first + 1
    lengths = list(range(1, count))
    if count > _LONGEST:
        lengths = [2**k for k in range(count.bit_length()) if 2**k < count]
    for length in lengths:
        for first in range(stretch.first, stretch.last - length + 2):
            yield Stretch(stretch.buffer, first, first + length - 1)
