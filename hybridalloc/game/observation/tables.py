"""What an observer knows of a game before it is played, as tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybridalloc.arrays import Floats, Ints

Singles = NDArray[np.float32]

# Tables of View, in the order of their fields.
EDGES, SPAN_OF, FAR, SHARES, RUNS_AT, WINDOWS, COPYING, FIXED_TOKENS = range(8)
PRESSURE, BACKGROUND, FIXED_SUMMARY, AT, STEPS_UP, FREE = range(8, 14)

# Columns of View.windows.
WINDOW_BEGIN, WINDOW_END = range(2)

# Channels of Observation.profile.
TAKEN_SHARE, HOPED_SHARE = range(2)
PROFILES = 2
# Channels of Observation.supply.
WITHIN, DURATION, IDLE_SHARE, USED_SHARE, FETCHING_SHARE, EVICTING_SHARE = range(6)
SUPPLIES = 6

# Columns of Observation.tokens that are known beforehand,
IS_ACCESS, SIZE, LOG_SIZE, SAVING, LOG_SAVING, SAVING_TOGETHER, SAVING_LATER = range(7)
TRAFFIC, SINCE_USE, UNTIL_USE, UNTIL_LAST_USE, IS_WHOLE, IS_IN_PLACE = range(7, 13)
LOOPING, IS_INPUT, IS_OUTPUT, MAY_CROSS = range(13, 17)
FIXED_FEATURES = 17
# and those that are not.
AHEAD, SAVING_NOW, DEMAND, IN_SLOW, IS_CLEAN, TO_EVICT, IS_SERVED = range(17, 24)
LEGAL = 24
"""Of the present access only: whether each action is legal."""
FEATURES = 27

# Places in Observation.summary that are known beforehand,
ROOMINESS, LEAST_TIME, IS_CYCLES, MAY_WAIT, MAY_SHIFT = range(5)
FIXED_FACTS = 5
# and those that are not.
PROGRESS, SCHEDULE, PRESSURE_NOW, LOAD_NOW, PEAK_LOAD, PEAK_HOPED = range(5, 11)
SAVED, STALLED, CROSSES_USED = range(11, 14)
FACTS = 14


class View(NamedTuple):
    """What does not change in a game, beside its own tables; and room to work in."""

    edges: Ints
    """(spans + 1,): where the spans of time begin and end, relative to the present."""
    span_of: Ints
    """(2 T + 1,): the span of each point from T before the present on."""
    far: Floats
    """(T + 1,): each distance on a log scale."""
    shares: Floats
    """(T,): what turns a second of each run of an instruction into a share of the
    program's time with everything in slow memory."""
    runs_at: Ints
    """(T,): the step of the simulator at which each instruction runs."""
    windows: Ints
    """(steps, 2): from which point on the buffer may be copied for an access, and by
    when it has to be; the same twice if it cannot be copied."""
    copying: Floats
    """(steps,): what that takes, as a share of the program's time; 0 for whole writes,
    which need no copy."""
    fixed_tokens: Floats
    """(steps, FIXED_FEATURES)"""
    pressure: Floats
    """(T + 1,): what is live at each point, wherever it is, against the capacity."""
    background: Floats
    """(T + 1, rows) or (0, rows): scratch and reserved ranges in each row, as a share
    of it, summed up over all instructions before each point; if there are any."""
    fixed_summary: Floats
    """(FIXED_FACTS + 1,): the last turns seconds into shares of the program's time."""
    at: Ints
    """(spans + 1,): the points at which the spans of time begin and end."""
    steps_up: Floats
    """(PROFILES x spans, rows + 2): by how much each row is covered more than the one
    before; all 0 between observations."""
    free: Floats
    """(T + 1,): the idle time before each point that no copy uses, as a share of the
    program's time."""
