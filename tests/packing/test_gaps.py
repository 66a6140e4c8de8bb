"""What is there at a time is found, however long the program and whatever else is."""

from __future__ import annotations

import numpy as np
import pytest

from hybridalloc.packing.gaps import (
    FINEST,
    MOST,
    Taken,
    doubled,
    first_taken,
    free,
    met,
    nothing,
    put,
    take_out,
)

Rectangle = tuple[int, int, int, int]
LONG = 40_000
"""Instructions, for which lists of three levels are needed."""


def meets(rectangle: Rectangle, spans: list[tuple[int, int]]) -> bool:
    """Whether it is there at any time of the spans, the obvious way."""
    _, _, start, end = rectangle
    return any(start < last and first < end for first, last in spans)


def draw(rng: np.random.Generator) -> Rectangle:
    """A rectangle of any length, short ones as often as long ones."""
    low, high = sorted(rng.choice(1000, 2, replace=False).tolist())
    length = int(LONG ** rng.uniform(0, 1))
    start = int(rng.integers(0, LONG - length))
    return low, high, start, start + length


def fill(rng: np.random.Generator, count: int) -> tuple[Taken, dict[int, Rectangle]]:
    """So many rectangles, of which a third are taken out again."""
    taken, there = nothing(LONG, 4), {}
    for number in range(count):
        if number == len(taken.found):
            taken = doubled(taken)
        there[number] = draw(rng)
        put(taken, number, *there[number])
    for number in rng.choice(count, count // 3, replace=False).tolist():
        take_out(taken, number)
        del there[number]
    return taken, there


@pytest.mark.parametrize("seed", range(3))
def test_exactly_what_is_there_is_met_in_ascending_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    taken, there = fill(rng, 500)
    for _ in range(200):
        spans = [draw(rng)[2:] for _ in range(rng.integers(1, 4))]
        expected = [x for x in there if meets(there[x], spans)]
        assert met(taken, np.array(spans)).tolist() == expected


@pytest.mark.parametrize("seed", range(3))
def test_the_first_time_at_which_bytes_are_taken_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    taken, there = fill(rng, 60)
    for _ in range(200):
        low, high, start, end = draw(rng)
        times = [
            max(start, x[2])
            for x in there.values()
            if x[0] < high and low < x[1] and meets(x, [(start, end)])
        ]
        assert first_taken(taken, low, high, start, end) == min(times, default=end)


def test_what_is_taken_out_may_be_put_elsewhere() -> None:
    taken = nothing(LONG, 1)
    put(taken, 0, 0, 8, 0, LONG)
    take_out(taken, 0)
    put(taken, 0, 4, 8, 30_000, 30_001)
    assert met(taken, np.array([(0, 30_000)])).tolist() == []
    assert met(taken, np.array([(30_000, LONG)])).tolist() == [0]


@pytest.mark.parametrize("length", [MOST, MOST + 1])
def test_a_rectangle_is_met_in_each_bucket_and_not_beside_it(length: int) -> None:
    """It begins in the middle of a bucket: it is listed in one more than it fills."""
    width = 1 << FINEST
    start = width // 2
    end = start + length * width
    taken = nothing(LONG, 1)
    put(taken, 0, 0, 8, start, end)
    found = [t for t in range(end + width) if len(met(taken, np.array([(t, t + 1)])))]
    assert found == list(range(start, end))


def test_times_beyond_the_program_do_no_harm() -> None:
    taken = nothing(4, 1)
    put(taken, 0, 0, 8, 2, 2**40)
    assert met(taken, np.array([(-5, 2)])).tolist() == []
    assert met(taken, np.array([(2**30, 2**50)])).tolist() == [0]


def test_gaps_lie_between_what_is_there_and_what_is_fixed() -> None:
    """Taken: [8, 16), and [0, 3) besides; begins are multiples of 4."""
    taken = nothing(4, 2)
    put(taken, 0, 8, 16, 0, 2)
    put(taken, 1, 16, 32, 2, 4)
    fixed = np.array([(0, 3)])
    gaps = free(taken, np.array([(0, 2)]), fixed, 32, 4, 4)
    assert gaps.tolist() == [[4, 8], [16, 32]]
