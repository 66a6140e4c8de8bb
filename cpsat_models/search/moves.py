"""Moves: small changes of a map in the making, each within the rules.

A move takes allocations out and puts others in; whether what results is better is for
the caller to find out.
"""

from __future__ import annotations

import numpy as np

from hybridalloc.cpsat_models.search.clock import time_instruction
from hybridalloc.cpsat_models.search.directory import float_row, floats, int_row, ints
from hybridalloc.arrays import Ints
from hybridalloc.cpsat_models.search.drafts import draft, redraft
from hybridalloc.cpsat_models.search.edits import TAKEN, put, take
from hybridalloc.cpsat_models.search.places import (
    NOWHERE,
    bases,
    block,
    cheapest,
    fit,
    may_fit,
)
from hybridalloc.cpsat_models.search.tables import (
    ACCESS,
    ACCESSED,
    ACTIVE,
    BLOCKED,
    BUFFER,
    CLAIMS,
    COST,
    COUNTS,
    CROSS,
    DRAFT,
    ELAPSED,
    END,
    FAST,
    FIRST,
    FIRST_ACCESS,
    FIXED,
    FROM,
    FROM_HERE,
    HEADS,
    INSTRUCTION,
    KIND,
    LAST,
    LEAST,
    LIMITS,
    LOG,
    MARKS,
    MOST_CROSSES,
    N_ACTIVE,
    N_CROSSES,
    N_LOGGED,
    NEXT,
    OF_BUFFER,
    OFFSET,
    POINTS,
    PRODUCED,
    RUN_STEP,
    RUNS,
    SLOTS,
    STALL,
    START,
    STAY,
    STAYS,
    SUMS,
    TERMS,
    TIMES,
    UNTIL,
    USES,
    VALUES,
    WEIGHT,
    WEIGHTS,
)
from hybridalloc.jit import compiled

MOST_TAKEN = 40
"""Allocations that may give way to one."""
DRAWS = 12
"""Stays drawn for one to be placed; the one that saves most for its cost is taken."""
LOOKS = 8
"""Instructions drawn for one at which time is lost."""
NEAR = 12
"""Stays before and after an instruction that count as near it."""
FILLERS = 5
"""Stays near a change that are tried in the room that is left."""
MOST_RUINED = 8
"""Allocations around an instruction that are taken out at a time."""
NOISE = 0.5
"""By which part the value of what gives way may appear smaller."""


@compiled
def saving(world: Ints, state: Ints, clocks: Ints, stay: int) -> float:
    """By how much the objective would fall if fast memory served a stay, too."""
    fast, total = int_row(state, FAST), 0.0
    for use in range(
        ints(world, STAYS)[stay, FIRST], ints(world, STAYS)[stay, LAST] + 1
    ):
        t, i = ints(world, USES)[use, INSTRUCTION], ints(world, USES)[use, ACCESS]
        if fast[i]:
            continue
        begin, end = (
            ints(world, POINTS)[t, FIRST_ACCESS],
            ints(world, POINTS)[t + 1, FIRST_ACCESS],
        )
        fast[i] = True
        for k in range(clocks.shape[0]):
            clock = clocks[k]
            after, _ = time_instruction(clock, fast, begin, end, t)
            saved = floats(clock, TIMES)[t, ELAPSED] - after
            total += (
                float_row(clock, SUMS)[WEIGHT] * floats(clock, TERMS)[t, RUNS] * saved
            )
        fast[i] = False
    return total


@compiled
def place(
    world: Ints,
    state: Ints,
    clocks: Ints,
    stay: int,
    may_stall: bool,
    may_displace: bool,
    random: np.random.Generator,
) -> bool:
    """Place a stay, if need be where what gives way is worth least.

    Where that fails what was taken out stays out, for the caller to take back.
    """
    if not draft(world, state, clocks[0], stay, may_stall, random):
        return False
    return settle(world, state, clocks, may_displace, random)


@compiled
def settle(
    world: Ints,
    state: Ints,
    clocks: Ints,
    may_displace: bool,
    random: np.random.Generator,
) -> bool:
    """Find a base for what was drafted, and put it in."""
    row = int_row(state, DRAFT)
    if not may_displace and not may_fit(world, state, row):
        return False
    count = block(world, state, row)
    least, most = bases(world, row)
    fixed = ints(world, STAYS)[row[STAY], FIXED]
    if fixed >= 0:
        least, most = max(least, fixed), min(most, fixed)
    base = NOWHERE
    if least <= most:
        style = 0 if random.random() < 0.7 else int(4 * random.random())
        base = fit(ints(state, BLOCKED), count, least, most, style)
        if base == NOWHERE and may_displace:
            base = cheapest(state, count, least, most, NOISE, random)
            if base != NOWHERE and not clear(world, state, clocks, count, base):
                base = NOWHERE
    if base == NOWHERE:
        return False
    row[OFFSET] = base
    put(world, state, clocks, row, saving(world, state, clocks, row[STAY]))
    return True


@compiled
def clear(world: Ints, state: Ints, clocks: Ints, count: int, base: int) -> bool:
    """Take out what is in the way at a base; whether it was not too much."""
    blocked, taken = ints(state, BLOCKED), 0
    for k in range(count):
        if not blocked[k, 0] <= base < blocked[k, 1]:
            continue
        slot = blocked[k, 2]
        is_new = True
        for i in range(k):
            if blocked[i, 2] == slot and blocked[i, 0] <= base < blocked[i, 1]:
                is_new = False
        if is_new:
            take(world, state, clocks, slot)
            taken += 1
            if taken > MOST_TAKEN:
                return False
    return True


@compiled
def remove_rivals(world: Ints, state: Ints, clocks: Ints, stay: int) -> bool:
    """Take out what shares an access with a stay; whether that may be."""
    stays, slots = ints(world, STAYS), ints(state, SLOTS)
    slot = int_row(state, HEADS)[stays[stay, BUFFER]]
    while slot >= 0:
        other, next_slot = slots[slot, STAY], slots[slot, NEXT]
        apart = (
            stays[other, LAST] < stays[stay, FIRST]
            or stays[other, FIRST] > stays[stay, LAST]
        )
        if not apart:
            if float_row(state, VALUES)[slot] == np.inf:
                return False
            take(world, state, clocks, slot)
        slot = next_slot
    return True


@compiled
def force(
    world: Ints,
    state: Ints,
    clocks: Ints,
    stay: int,
    random: np.random.Generator,
) -> bool:
    """Place a stay instead of what overlaps it or is in its way; place that again."""
    if not remove_rivals(world, state, clocks, stay):
        return False
    if ints(world, STAYS)[stay, KIND] == CROSS and not remove_cross(
        world, state, clocks, random
    ):
        return False
    if not place(world, state, clocks, stay, True, True, random):
        return False
    place_again(world, state, clocks, random)
    fill(world, state, clocks, ints(world, STAYS)[stay, START], random)
    return True


@compiled
def remove_cross(
    world: Ints,
    state: Ints,
    clocks: Ints,
    random: np.random.Generator,
) -> bool:
    """Make room among the cross-program prefetches, of which there may be few."""
    while int_row(state, COUNTS)[N_CROSSES] >= int_row(world, LIMITS)[MOST_CROSSES]:
        victim, highest = NOWHERE, 0.0
        for k in range(int_row(state, COUNTS)[N_ACTIVE]):
            slot, drawn = int_row(state, ACTIVE)[k], random.random()
            is_cross = ints(world, STAYS)[ints(state, SLOTS)[slot, STAY], KIND] == CROSS
            if is_cross and drawn > highest and float_row(state, VALUES)[slot] < np.inf:
                victim, highest = slot, drawn
        if victim == NOWHERE:
            return False
        take(world, state, clocks, victim)
    return True


@compiled
def place_again(
    world: Ints,
    state: Ints,
    clocks: Ints,
    random: np.random.Generator,
) -> None:
    """Place what the move has taken out wherever it fits now, or a part of it."""
    log, logged = ints(state, LOG), int_row(state, COUNTS)[N_LOGGED]
    order = np.empty(logged)
    for k in range(logged):
        order[k] = 1.0
        if log[k, 1] == TAKEN:
            order[k] = -float_row(state, VALUES)[log[k, 0]] * random.random()
    for k in np.argsort(order):
        if order[k] > 0:
            break
        slot = log[k, 0]
        if redraft(world, state, slot) and settle(world, state, clocks, False, random):
            continue
        stay = ints(state, SLOTS)[slot, STAY]
        may_stall = random.random() < 0.5
        if place(world, state, clocks, stay, may_stall, False, random):
            continue
        place_part(world, state, clocks, stay, random)


@compiled
def place_part(
    world: Ints,
    state: Ints,
    clocks: Ints,
    stay: int,
    random: np.random.Generator,
) -> None:
    """Place a stay that is a part of another one of its buffer."""
    stays, buffer = ints(world, STAYS), ints(world, STAYS)[stay, BUFFER]
    begin, end = (
        int_row(world, OF_BUFFER)[buffer],
        int_row(world, OF_BUFFER)[buffer + 1],
    )
    if end - begin < 2 or stays[stay, FIRST] == stays[stay, LAST]:
        return
    for _ in range(4):
        part = int_row(world, OF_BUFFER)[begin + int(random.random() * (end - begin))]
        within = (
            stays[stay, FIRST] <= stays[part, FIRST]
            and stays[part, LAST] <= stays[stay, LAST]
            and stays[part, KIND] != CROSS
        )
        if part != stay and within:
            place(world, state, clocks, part, True, False, random)
            return


@compiled
def fill(
    world: Ints,
    state: Ints,
    clocks: Ints,
    t: int,
    random: np.random.Generator,
) -> None:
    """Place some stays that begin near an instruction where there is room."""
    at = ints(world, POINTS)[t, FROM_HERE]
    low, high = max(0, at - NEAR), min(ints(world, STAYS).shape[0], at + NEAR)
    for _ in range(min(FILLERS, high - low)):
        stay = low + int(random.random() * (high - low))
        if ints(world, STAYS)[stay, KIND] == CROSS:
            continue
        if saving(world, state, clocks, stay) > 0:
            place(world, state, clocks, stay, False, False, random)


@compiled
def worth(world: Ints, state: Ints, clocks: Ints, stay: int) -> float:
    """What a stay saves for what it costs."""
    return saving(world, state, clocks, stay) / floats(world, WEIGHTS)[stay, COST]


@compiled
def losing(world: Ints, clocks: Ints, random: np.random.Generator) -> int:
    """An instruction at which much time is lost, likely."""
    clock = clocks[0]
    found, most = 0, -1.0
    for _ in range(LOOKS):
        t = int(random.random() * floats(clock, TIMES).shape[0])
        lost = floats(clock, TIMES)[t, ELAPSED] - floats(clock, TERMS)[t, LEAST]
        lost = lost * floats(clock, TERMS)[t, RUNS]
        lost += floats(clock, MARKS)[ints(world, POINTS)[t, RUN_STEP], STALL]
        lost *= random.random()
        if lost > most:
            found, most = t, lost
    return found


@compiled
def draw_stay(
    world: Ints,
    state: Ints,
    clocks: Ints,
    targeted: float,
    random: np.random.Generator,
) -> int:
    """A stay that would save much, likely; or ``NOWHERE``.

    Args:
        world: What does not change.
        state: The map.
        clocks: The cost models.
        targeted: How often it is looked for where time is lost.
        random: Draws.
    """
    found, best = NOWHERE, 0.0
    if random.random() >= targeted:
        for _ in range(DRAWS):
            stay = int(random.random() * ints(world, STAYS).shape[0])
            value = worth(world, state, clocks, stay)
            if value > best:
                found, best = stay, value
        return found
    t = losing(world, clocks, random)
    begin, end = (
        ints(world, POINTS)[t, FIRST_ACCESS],
        ints(world, POINTS)[t + 1, FIRST_ACCESS],
    )
    if begin == end:
        return NOWHERE
    i = begin + int(random.random() * (end - begin))
    buffer = int_row(world, ACCESSED)[i]
    first, until = (
        int_row(world, OF_BUFFER)[buffer],
        int_row(world, OF_BUFFER)[buffer + 1],
    )
    if first == until:
        return NOWHERE
    for _ in range(DRAWS):
        stay = int_row(world, OF_BUFFER)[first + int(random.random() * (until - first))]
        if not ints(world, STAYS)[stay, START] <= t < ints(world, STAYS)[stay, END]:
            continue
        value = worth(world, state, clocks, stay) * (0.5 + random.random())
        if value > best:
            found, best = stay, value
    return found


@compiled
def displace(
    world: Ints,
    state: Ints,
    clocks: Ints,
    random: np.random.Generator,
) -> bool:
    """Place a stay that is not in."""
    stay = draw_stay(world, state, clocks, 0.5, random)
    return stay != NOWHERE and force(world, state, clocks, stay, random)


@compiled
def any_slot(state: Ints, random: np.random.Generator) -> int:
    """An allocation that may change, or ``NOWHERE``."""
    if int_row(state, COUNTS)[N_ACTIVE] == 0:
        return NOWHERE
    slot = int_row(state, ACTIVE)[
        int(random.random() * int_row(state, COUNTS)[N_ACTIVE])
    ]
    return int(slot) if float_row(state, VALUES)[slot] < np.inf else NOWHERE


@compiled
def resize(
    world: Ints,
    state: Ints,
    clocks: Ints,
    random: np.random.Generator,
) -> bool:
    """Place a longer, a shorter or another stay where one is."""
    slot = any_slot(state, random)
    if slot == NOWHERE:
        return False
    stay = ints(state, SLOTS)[slot, STAY]
    buffer = ints(world, STAYS)[stay, BUFFER]
    begin, end = (
        int_row(world, OF_BUFFER)[buffer],
        int_row(world, OF_BUFFER)[buffer + 1],
    )
    for _ in range(4):
        other = int_row(world, OF_BUFFER)[begin + int(random.random() * (end - begin))]
        touches = (
            ints(world, STAYS)[other, FIRST] <= ints(world, STAYS)[stay, LAST]
            and ints(world, STAYS)[stay, FIRST] <= ints(world, STAYS)[other, LAST]
        )
        if other != stay and touches:
            return force(world, state, clocks, other, random)
    return False


@compiled
def remove(
    world: Ints,
    state: Ints,
    clocks: Ints,
    random: np.random.Generator,
) -> bool:
    """Take an allocation out, and perhaps place others in its room."""
    slot = any_slot(state, random)
    if slot == NOWHERE:
        return False
    start = ints(state, SLOTS)[slot, FROM]
    take(world, state, clocks, slot)
    if random.random() < 0.5:
        fill(world, state, clocks, start, random)
    return True


@compiled
def reissue(
    world: Ints,
    state: Ints,
    clocks: Ints,
    random: np.random.Generator,
) -> bool:
    """Issue the copies of an allocation at other points, elsewhere if need be."""
    slot = any_slot(state, random)
    if slot == NOWHERE:
        return False
    stay = ints(state, SLOTS)[slot, STAY]
    if ints(world, STAYS)[stay, PRODUCED] and ints(world, STAYS)[stay, KIND] != CROSS:
        return False
    take(world, state, clocks, slot)
    may_displace = random.random() < 0.2
    if not place(world, state, clocks, stay, True, may_displace, random):
        return False
    if may_displace:
        place_again(world, state, clocks, random)
    return True


@compiled
def ruin(
    world: Ints,
    state: Ints,
    clocks: Ints,
    random: np.random.Generator,
) -> bool:
    """Take out allocations around an instruction; place others there, or them again."""
    slots, active = ints(state, SLOTS), int_row(state, ACTIVE)
    centre = losing(world, clocks, random)
    if random.random() < 0.5:
        centre = int(random.random() * float_row(state, CLAIMS).size)
    wanted = 1 + int(random.random() * MOST_RUINED)
    around = 0
    for k in range(int_row(state, COUNTS)[N_ACTIVE]):
        slot = active[k]
        if slots[slot, FROM] <= centre < slots[slot, UNTIL]:
            ints(state, BLOCKED)[around, 2] = slot
            around += float_row(state, VALUES)[slot] < np.inf
    for _ in range(min(wanted, around)):
        k = int(random.random() * around)
        take(world, state, clocks, ints(state, BLOCKED)[k, 2])
        around -= 1
        ints(state, BLOCKED)[k, 2] = ints(state, BLOCKED)[around, 2]
    if random.random() < 0.5:
        fill(world, state, clocks, centre, random)
    place_again(world, state, clocks, random)
    fill(world, state, clocks, centre, random)
    return True


@compiled
def move(
    world: Ints,
    state: Ints,
    clocks: Ints,
    shares: tuple[float, ...],
    random: np.random.Generator,
) -> tuple[int, bool]:
    """Make a move at random: which, and whether it came about.

    Args:
        world: What does not change.
        state: The map.
        clocks: The cost models.
        shares: How often each is made, cumulative, up to 1.
        random: Draws.
    """
    drawn = random.random()
    if drawn < shares[0]:
        return 0, displace(world, state, clocks, random)
    if drawn < shares[1]:
        return 1, ruin(world, state, clocks, random)
    if drawn < shares[2]:
        return 2, resize(world, state, clocks, random)
    if drawn < shares[3]:
        return 3, reissue(world, state, clocks, random)
    return 4, remove(world, state, clocks, random)
