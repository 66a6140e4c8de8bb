"""The memory profile: what is taken, as a raster of time and offset."""

from __future__ import annotations

from hybridalloc.arrays import Ints
from hybridalloc.game.fast.tables import HOPES
from hybridalloc.game.observation.tables import (
    AT,
    BACKGROUND,
    HOPED_SHARE,
    PROFILES,
    SHARES,
    SPAN_OF,
    STEPS_UP,
    TAKEN_SHARE,
    Singles,
)
from hybridalloc.incremental.directory import ROWS, floats, int_row, ints
from hybridalloc.incremental.tables import (
    ACTIVE,
    BEGIN,
    BOXES,
    CAPACITY,
    CLOSE,
    COUNTS,
    FIRST_BOX,
    HIGH,
    LIMITS,
    LOW,
    N_ACTIVE,
    OFFSET,
    SLOTS,
)
from hybridalloc.jit import compiled


@compiled
def draw(
    world: Ints, state: Ints, play: Ints, view: Ints, now: int, profile: Singles
) -> None:
    """Draw the profile around the present.

    Args:
        world: What does not change.
        state: The map.
        play: Its hopes.
        view: What the observer knows, and where the spans of time are.
        now: The present instruction.
        profile: (PROFILES, spans, rows): is overwritten.
    """
    slots, active = ints(state, SLOTS), int_row(state, ACTIVE)
    hopes = int_row(play, HOPES)
    scale = profile.shape[2] / max(1, int_row(world, LIMITS)[CAPACITY])
    zero = view[SHARES, ROWS] - now
    for k in range(int_row(state, COUNTS)[N_ACTIVE]):
        outline(view, slots[active[k]], hopes[active[k]], scale, zero)
    for channel in range(PROFILES):
        fill(view, channel, profile[channel])


@compiled
def outline(view: Ints, slot: Ints, until: int, scale: float, zero: int) -> None:
    """Note where the rows begin and end that a slot takes, and would need besides.

    Args:
        view: Its outlines are added to.
        slot: (SLOT_COLUMNS,)
        until: When it ends if its buffer stays on until the next access.
        scale: Rows for each unit of memory.
        zero: Where ``View.span_of`` has the first point of the program.
    """
    for i in range(slot[BOXES]):
        box = FIRST_BOX + 4 * i
        low = scale * (slot[OFFSET] + slot[box + LOW])
        high = scale * (slot[OFFSET] + slot[box + HIGH])
        begin, close = slot[box + BEGIN], slot[box + CLOSE]
        cover(view, TAKEN_SHARE, zero, begin, close, low, high)
        if i == 0:
            cover(view, HOPED_SHARE, zero, close, until, low, high)


@compiled
def cover(
    view: Ints, channel: int, zero: int, begin: int, end: int, low: float, high: float
) -> None:
    """Note by how much each row is covered more than the one before.

    Args:
        view: Its outlines are added to.
        channel: Which profile.
        zero: Where ``View.span_of`` has the first point of the program.
        begin: The first point that is covered.
        end: The first that is no longer.
        low: Where the range begins, in rows.
        high: Where it ends.
    """
    if begin >= end:
        return
    at, span_of = int_row(view, AT), int_row(view, SPAN_OF)
    steps_up = floats(view, STEPS_UP)
    lines = channel * (at.size - 1)
    first, last = int(low), int(high)
    above, beyond = low - first, high - last
    for span in range(span_of[zero + begin], span_of[zero + end - 1] + 1):
        share = 1.0
        if begin > at[span] or end < at[span + 1]:
            share = min(end, at[span + 1]) - max(begin, at[span])
            share /= at[span + 1] - at[span]
        line = steps_up[lines + span]
        line[first] += share * (1 - above)
        line[first + 1] += share * above
        line[last] -= share * (1 - beyond)
        line[last + 1] -= share * beyond


@compiled
def fill(view: Ints, channel: int, profile: Singles) -> None:
    """Sum up, over the rows, how much each is covered more than the one before.

    Args:
        view: Its outlines are used up.
        channel: Which profile.
        profile: (spans, rows): is overwritten.
    """
    at, steps_up = int_row(view, AT), floats(view, STEPS_UP)
    background = floats(view, BACKGROUND)
    for span in range(profile.shape[0]):
        line, covered = steps_up[channel * profile.shape[0] + span], 0.0
        length = at[span + 1] - at[span]
        for row in range(profile.shape[1]):
            covered += line[row]
            line[row] = 0.0
            share = covered
            if channel == TAKEN_SHARE and background.shape[0] and length:
                before = background[at[span], row]
                share += (background[at[span + 1], row] - before) / length
            profile[span, row] = min(1.0, max(0.0, share))
        line[profile.shape[1]] = line[profile.shape[1] + 1] = 0.0
