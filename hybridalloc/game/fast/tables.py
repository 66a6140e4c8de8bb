"""The tables of the fast game, beside those of a map in the making."""

from __future__ import annotations

from typing import NamedTuple

from hybridalloc.arrays import Floats, Ints

# Tables of Rules and Play, in the order of their fields.
TURNS, BEGINS, FETCHES, GROWTH, CHOICES = range(5)
LIVE, HOPES, OPTIONS, TAKEN, PLACES, SCORES, CANDIDATES, ROW, SHIFTS, FORCED = range(10)

# Columns of Rules.turns.
TURN_AT, TURN_OF, TURN_USE = range(3)
# Columns of Rules.begins.
PRODUCED_BY, FETCHES_FROM, FETCHES_TO, CROSSED_BY = range(4)
# Columns of Rules.growth.
LONGER, IS_LAST, LONGEST = range(3)
# Places in Rules.choices.
WAITS, MAKES_ROOM = range(2)

# Places in Play.places.
STEP, PREPARED, STUCK, ENDING, HIGH_WATER = range(5)
# Places in Play.scores.
SECONDS = 0

# What an option is, in the column of Play.options after those of a slot.
FORBIDDEN, STAYS_ON, GOES_ON, BEGINS_HERE, IS_DROPPED = range(5)

NEVER = -1
"""When what does not happen is issued or due."""
NO_COPY, COPY, DROP = range(3)
"""``Action``, for compiled code."""
DROPPABLE = 16
"""Added to what was taken at a step where Drop was legal."""


class Rules(NamedTuple):
    """What does not change in a game."""

    turns: Ints
    """(steps, 3): the instruction, the buffer and the use of each."""
    begins: Ints
    """(uses, 4): the stay that begins with a whole write there, where those that begin
    with a prefetch are in ``fetches``, from and until, and the stay that the previous
    run left; -1 for none."""
    fetches: Ints
    """(any,): stays."""
    growth: Ints
    """(stays, 3): the one that is longer by an access, or -1; 1 if the buffer has no
    later access; and the longest one that may come of it."""
    choices: Ints
    """(2,): 1 if copies may be waited for, and 1 if others may be shifted to make
    room."""


class Play(NamedTuple):
    """What changes beside the map."""

    live: Ints
    """(buffers,): the slot of the present stay of each, or -1."""
    hopes: Ints
    """(slots,): until when each would need its place if it went on."""
    options: Ints
    """(actions, SLOT_COLUMNS + 1): for each action the slot that it would make, and
    what it is; valid where the position is prepared."""
    taken: Ints
    """(steps,): the action taken at each."""
    places: Ints
    """(5,): the step, 1 if the position is prepared, the buffer that is stuck at the
    end or -1, when the eviction of the present stay would be due or -1, and how many
    slots were ever in use."""
    scores: Floats
    """(1,): seconds of the map so far."""
    candidates: Ints
    """(T + 1,): room for points that are to be looked at."""
    row: Ints
    """(SLOT_COLUMNS,): a slot to be placed."""
    shifts: Ints
    """(actions x MOST_SHIFTS, 2): for each action, which slots it would shift, ended by
    -1, and to which offsets."""
    forced: Ints
    """(steps,): 1 where Drop-backup has forced Drop, so that nothing else is legal."""
