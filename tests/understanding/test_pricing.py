"""What a buffer's stays in fast memory cost and save."""

from __future__ import annotations

import numpy as np
import pytest
from named_problems import CHAIN, FASTER, SLOW

from hybridalloc.bounds.bound import Prices
from hybridalloc.understanding import Stay, explain, stays

PRICES = Prices(np.array([0.5, 0.25, 2.0]), 0.0)
"""Seconds for a byte during each of the three instructions."""


def test_a_stay_costs_its_bytes_at_the_prices_of_its_instructions() -> None:
    """x, 8 bytes, during instructions 0 and 1: 8 * (0.5 + 0.25) = 6.

    It is written in one and read in the other, in 2 s instead of 8 s each: 12 saved.
    """
    found = explain(CHAIN, FASTER, "x")
    assert stays(CHAIN, FASTER, found, PRICES) == (Stay(0, 2, True, 6.0, 12.0),)


def test_a_missed_stay_costs_as_much() -> None:
    """The same stay, as long as the map has everything in slow memory."""
    found = explain(CHAIN, SLOW, "x")
    (stay,) = stays(CHAIN, SLOW, found, PRICES)
    assert (stay.start, stay.end, stay.held) == (0, 2, False)
    assert (stay.price_s, stay.saving_s) == pytest.approx((6.0, 12.0))
