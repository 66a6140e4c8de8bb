"""What is said of a lower bound and its prices."""

from __future__ import annotations

from dataclasses import replace

import bound_stand_ins
import numpy as np
import pytest
from named_problems import CHAIN
from rich.console import Console

from hybridalloc.bounds.bound import Prices
from hybridalloc.report.bounds import BoundRecord, bound_parts, bound_record
from hybridalloc.report.records import References

SLOW = References(48.0, True, None)


def recorded(per_byte: float, seconds: float = 20.0) -> BoundRecord:
    """A bound of the chain at this price of a byte, in seconds, at instruction 1."""
    found = bound_stand_ins.StandIn(seconds)(CHAIN)
    prices = Prices(np.array([0.0, per_byte, 0.0]), 0.0)
    return bound_record("chain.json", CHAIN, replace(found, prices=prices), SLOW)


def shown(row: BoundRecord) -> str:
    """What people see of it."""
    console = Console(width=200)
    with console.capture() as capture:
        console.print(*bound_parts(row, limit=10), sep="\n")
    return capture.get()


@pytest.mark.parametrize("per_byte", [0.0, 1e-19])
def test_a_price_too_low_to_be_shown_is_nothing(per_byte: float) -> None:
    """At 1e-19 s a byte, a MiB saves 1.05e-13 s: 0.0001 ns."""
    row = recorded(per_byte)
    assert row.instructions == ()
    text = shown(row)
    assert "1 MiB more of fast memory  would lower the bound by nothing" in text
    assert "worth most" not in text


def test_a_price_is_shown_where_fast_memory_has_it() -> None:
    """At 1e-15 s a byte, a MiB saves 1.05 ns."""
    text = shown(recorded(1e-15))
    assert "1 MiB more of fast memory  would lower the bound by about 1.05 ns" in text
    assert "1 i1" in text


def test_a_bound_of_nothing_has_no_gap_to_show() -> None:
    text = shown(recorded(0.0, seconds=0.0))
    assert "all in slow memory         48 s" in text
    assert "above the bound" not in text
