"""XLA's score of a buffer, from numbers."""

from __future__ import annotations

import pytest

from hybridalloc.benefit import (
    Site,
    benefit,
    constant_definition,
    memory_boundedness,
    rounding_tolerance,
)
from hybridalloc.target import MemorySpace, Target

# A byte takes 1 s in slow memory; in fast memory 1/4 s to read and 1/2 s to write.
TARGET = Target(
    name="slow",
    spaces=(MemorySpace("fast", 4, 2, 100), MemorySpace("slow", 1, 1)),
    flops_per_second=1,
    clock_hz=2,
)


def test_a_memory_bound_site_saves_the_difference_of_the_bandwidths() -> None:
    # 10 s in slow memory; with its 8 bytes in fast memory 8/4 + 2 = 4 s.
    assert benefit(Site(1, 10, 8), TARGET) == 10 - 4
    # Writing them takes 8/2 + 2 = 6 s.
    assert benefit(Site(1, 10, 8, is_write=True), TARGET) == 10 - 6


def test_a_memory_bound_site_in_loops_counts_five_times_for_each() -> None:
    assert benefit(Site(1, 10, 8, runs=25), TARGET) == 25 * (10 - 4)


def test_a_compute_bound_site_lacks_memory_time_in_loops_too() -> None:
    assert benefit(Site(12, 10, 8), TARGET) == -2
    assert benefit(Site(12, 10, 8, runs=25), TARGET) == -2


def test_positive_benefits_add_up_over_the_root_of_the_size() -> None:
    definition = Site(0, 8, 8, is_write=True)  # saves 8 - 4
    uses = [Site(0, 8, 8), Site(20, 8, 8)]  # saves 8 - 2; compute bound
    assert memory_boundedness(definition, uses, 16, TARGET) == (4 + 6) / 4


def test_without_positive_benefits_the_largest_counts() -> None:
    uses = [Site(20, 8, 8), Site(11, 8, 8)]
    assert memory_boundedness(Site(13, 8, 8), uses, 9, TARGET) == -3 / 3
    assert memory_boundedness(None, uses, 9, TARGET) == 0  # an input's own is 0


def test_a_constant_lacks_one_clock_cycle() -> None:
    uses = [Site(20, 8, 8)]
    definition = constant_definition(TARGET)
    assert memory_boundedness(definition, uses, 4, TARGET) == -0.5 / 2


def test_it_rounds_like_float32() -> None:
    # In float32 2**24 + 2 - 1 is 2**24, and 1/4 s more makes no difference: 2 s are
    # saved instead of 3/4 s.
    site = Site(0, 2**24 + 2, 1)
    assert benefit(site, TARGET) == 2
    assert abs(benefit(site, TARGET) - 0.75) <= rounding_tolerance(
        None, [site], 1, TARGET
    )


def test_the_tolerance_is_two_roundings_of_the_largest_time_for_each_site() -> None:
    definition, use = Site(0, 100, 1), Site(0, 40, 1, runs=5)
    # The largest time is 5 * 40 s, there are two sites, and the root of 16 is 4.
    tolerance = rounding_tolerance(definition, [use], 16, TARGET)
    assert tolerance == pytest.approx(2 * 2 * 2**-24 * 200 / 4)


def test_an_empty_buffer_has_no_score() -> None:
    with pytest.raises(ValueError, match="size 0"):
        memory_boundedness(None, [], 0, TARGET)
