"""The steps of a run with its loops unrolled, for few trips each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hybridalloc.program import Loop, Program

MOST_STEPS = 100_000
"""The most instructions and trips beyond one trip of each loop."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the unrolled run: a point, or the instruction that follows it."""

    index: int
    is_point: bool
    body: Loop | None
    """The innermost loop that it belongs to."""


def unroll(program: Program, trips: int) -> Iterator[Step]:
    """The steps of the unrolled run; a loop makes 1 to ``trips`` trips.

    >>> from hybridalloc.program import Instruction
    >>> loop = Loop(0, 1, trip_count=2)
    >>> program = Program("twice", (Instruction("body"),), (), (loop,))
    >>> [f"{'point' if step.is_point else 'instruction'} {step.index}"
    ...  for step in unroll(program, 3) if step.body]
    ... # doctest: +NORMALIZE_WHITESPACE
    ['point 0', 'instruction 0', 'point 1', 'point 0', 'instruction 0', 'point 1']
    """
    loops, made = program.loops, trips_made(program, trips)
    around: list[int] = []  # the loops that are under way, outermost first
    left = list(made)
    t, reached = 0, 0  # the loop that begins next
    yield Step(0, True, None)
    while True:
        body = loops[around[-1]] if around else None
        if t == (body.end if body else len(program)):
            if not around:
                return
            left[around[-1]] -= 1
            if left[around[-1]]:
                t, reached = loops[around[-1]].start, around[-1] + 1
            else:
                around.pop()
        elif reached < len(loops) and loops[reached].start == t:
            around.append(reached)
            left[reached] = made[reached]
            reached += 1
        else:
            yield Step(t, False, body)
            t += 1
        yield Step(t, True, loops[around[-1]] if around else None)


def trips_made(program: Program, trips: int) -> list[int]:
    """How many trips each loop makes when the program is unrolled.

    As many as its trip count, ``trips`` and what is left of ``MOST_STEPS`` allow, but
    at least one; loops of less depth come first.

    >>> from hybridalloc.program import Instruction
    >>> nest = tuple(Loop(0, 12 - i, trip_count=2) for i in range(12))
    >>> trips_made(Program("deep", (Instruction("body"),) * 12, (), nest), 3)
    [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]
    >>> trips_made(Program("deep", (Instruction("body"),) * 12, (), nest), 1)
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    """
    parents, depths, steps = _nesting(program.loops)
    made, runs, left = [1] * len(parents), [1] * len(parents), MOST_STEPS
    for i in sorted(range(len(parents)), key=depths.__getitem__):
        before = runs[parents[i]] if parents[i] >= 0 else 1
        another = before * steps[i]
        wanted = min(program.loops[i].trip_count, trips, 1 + left // another)
        made[i] = max(1, wanted)
        left -= (made[i] - 1) * another
        runs[i] = before * made[i]
    return made


def _nesting(loops: Sequence[Loop]) -> tuple[list[int], list[int], list[int]]:
    """Of each loop: the one around it or -1, its depth, and the steps of one trip.

    Steps are its instructions and one for each trip, of itself and of loops within.
    """
    parents, depths, within = [], [], [0] * len(loops)
    around: list[int] = []
    for i, loop in enumerate(loops):
        while around and loops[around[-1]].end <= loop.start:
            around.pop()
        parents.append(around[-1] if around else -1)
        depths.append(len(around))
        around.append(i)
    for i in reversed(range(len(loops))):
        within[i] += 1
        if parents[i] >= 0:
            within[parents[i]] += within[i]
    steps = [loop.end - loop.start + n for loop, n in zip(loops, within, strict=True)]
    return parents, depths, steps
