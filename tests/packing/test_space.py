"""Where there is room in fast memory, and what to clear away for it."""

from __future__ import annotations

from named_problems import W, problem, reads, target

from hybridalloc.packing.space import Space
from hybridalloc.program import Buffer

EIGHT = Buffer("eight", 8)
FOUR = Buffer("four", 4)


def space(
    capacity: int = 32,
    reserved: tuple[tuple[int, int], ...] = (),
    scratch: dict[int, int] | None = None,
) -> Space[str]:
    """Of four instructions, in units of 4 bytes."""
    machine = target(capacity, reserved)
    steps = ((reads(0),), (), (), ())
    return Space(problem((W,), *steps, scratch=scratch, machine=machine))


def test_an_empty_memory_is_one_gap() -> None:
    assert space().gaps(EIGHT, [(0, 4)]) == [(0, 32)]


def test_the_smallest_gap_that_fits_is_taken() -> None:
    """Free: [0, 16) and [20, 32), of which the second is the smaller."""
    taken = space()
    taken.take("a", (16, 20, 0, 4))
    assert taken.best_fit(EIGHT, [(0, 4)]) == 20


def test_of_equal_gaps_the_lowest_is_taken() -> None:
    taken = space()
    taken.take("a", (12, 20, 0, 4))
    assert taken.best_fit(EIGHT, [(0, 4)]) == 0


def test_a_rectangle_is_in_the_way_only_while_it_lasts() -> None:
    taken = space(capacity=8)
    taken.take("a", (0, 8, 1, 3))
    assert taken.best_fit(EIGHT, [(0, 1)]) == 0
    assert taken.best_fit(EIGHT, [(3, 4)]) == 0
    assert taken.best_fit(EIGHT, [(0, 1), (3, 4)]) == 0
    assert taken.best_fit(EIGHT, [(0, 2)]) is None
    taken.give_back("a")
    assert taken.best_fit(EIGHT, [(0, 4)]) == 0


def test_offsets_are_aligned() -> None:
    taken = space()
    taken.take("a", (0, 5, 0, 4))
    assert taken.best_fit(EIGHT, [(0, 4)]) == 8


def test_reserved_ranges_and_scratch_are_in_the_way() -> None:
    """Scratch takes [0, 8) at instruction 2, and [12, 16) is reserved."""
    taken = space(reserved=((12, 16),), scratch={2: 8})
    assert taken.gaps(FOUR, [(1, 2)]) == [(0, 12), (16, 32)]
    assert taken.gaps(FOUR, [(1, 3)]) == [(8, 12), (16, 32)]


def test_a_fixed_place_is_kept_or_nothing() -> None:
    taken = space()
    taken.take("a", (0, 4, 0, 4))
    assert taken.best_fit(Buffer("b", 8, offset=12), [(0, 4)]) == 12
    assert taken.best_fit(Buffer("b", 8, offset=0), [(0, 4)]) is None
    assert taken.best_fit(Buffer("b", 8, offset=28), [(0, 4)]) is None
    assert taken.best_fit(Buffer("b", 8, offset=10), [(0, 4)]) is None


def test_room_in_bytes_need_not_be_a_gap() -> None:
    taken = space(capacity=16)
    taken.take("a", (4, 12, 0, 4))
    assert taken.may_fit(EIGHT, (0, 4))
    assert taken.best_fit(EIGHT, [(0, 4)]) is None


def test_what_is_worth_least_gives_way() -> None:
    """Offsets 0 to 8 cost a (3) or a and b (5); offset 8 only b (2); 16 only c (4)."""
    taken = space(capacity=24)
    taken.take("a", (0, 8, 0, 4), value=3.0)
    taken.take("b", (8, 16, 1, 2), value=2.0)
    taken.take("c", (16, 24, 0, 4), value=4.0)
    assert taken.cheapest(EIGHT, [(0, 4)]) == ["b"]
    assert taken.cheapest(EIGHT, [(2, 4)]) == []
    assert set(taken.cheapest(Buffer("large", 16), [(0, 4)])) == {"a", "b"}


def test_nothing_gives_way_to_what_cannot_be_there() -> None:
    taken = space(capacity=16, reserved=((4, 8),))
    taken.take("a", (8, 16, 0, 4), value=1.0)
    assert taken.cheapest(Buffer("large", 12), [(0, 4)]) == []
    assert taken.cheapest(Buffer("fixed", 8, offset=4), [(0, 4)]) == []
    assert taken.cheapest(Buffer("fixed", 8, offset=8), [(0, 4)]) == ["a"]


def test_a_fixed_place_is_cleared_of_what_lies_there_alone() -> None:
    """What lies at 0 stays; no place is cleared if the fixed one is not aligned."""
    taken = space(capacity=24)
    taken.take("bottom", (0, 8, 0, 4), value=1.0)
    taken.take("there", (16, 24, 0, 4), value=9.0)
    assert taken.cheapest(Buffer("fixed", 8, offset=16), [(0, 4)]) == ["there"]
    assert taken.cheapest(Buffer("fixed", 8, offset=8), [(0, 4)]) == []
    assert taken.cheapest(Buffer("misaligned", 8, offset=18), [(0, 4)]) == []


def test_room_is_made_next_to_scratch_and_reserved_ranges() -> None:
    """What would fit but for a: [4, 20) above scratch; [8, 24) above the reserved."""
    taken = space(capacity=24, reserved=((20, 24),), scratch={1: 4})
    taken.take("a", (8, 20, 0, 4), value=1.0)
    assert taken.cheapest(Buffer("large", 16), [(0, 4)]) == ["a"]
    above = space(capacity=24, reserved=((4, 8),))
    above.take("a", (12, 20, 0, 4), value=1.0)
    assert above.cheapest(Buffer("large", 16), [(0, 4)]) == ["a"]


def test_many_rectangles_come_and_go() -> None:
    taken = space(capacity=4 * 200)
    for i in range(200):
        taken.take(str(i), (4 * i, 4 * i + 4, 0, 4))
    assert taken.best_fit(FOUR, [(0, 4)]) is None
    taken.give_back("123")
    taken.take("again", (492, 496, 0, 1))
    assert taken.best_fit(FOUR, [(1, 4)]) == 4 * 123


def test_a_range_that_is_reserved_beyond_the_capacity_adds_no_room() -> None:
    assert space(16, reserved=((24, 28),)).gaps(EIGHT, [(0, 4)]) == [(0, 16)]
    assert space(16, reserved=((12, 28),)).gaps(EIGHT, [(0, 4)]) == [(0, 12)]


def test_bytes_are_free_until_the_first_that_takes_any_of_them() -> None:
    """Taken at [8, 16) from instruction 2 on; the rest is free to the end."""
    taken = space()
    taken.take("a", (8, 16, 2, 4))
    assert taken.free_until(0, 8, 0, 4) == 4
    assert taken.free_until(4, 12, 0, 4) == 2
    assert taken.free_until(12, 20, 3, 4) == 3
    assert taken.free_until(12, 20, 0, 1) == 1


def test_scratch_and_reserved_bytes_are_not_free() -> None:
    """Scratch takes [0, 8) at instruction 2, and [12, 16) is reserved."""
    taken = space(reserved=((12, 16),), scratch={2: 8})
    assert taken.free_until(4, 12, 0, 4) == 2
    assert taken.free_until(8, 12, 0, 4) == 4
    assert taken.free_until(8, 16, 1, 4) == 1
