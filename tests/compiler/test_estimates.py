"""Cycle estimates, read, written and joined."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridalloc.compiler.estimates import (
    Estimate,
    estimates_in,
    read_estimates,
    write_cycles,
    write_estimates,
)
from hybridalloc.io.files import read_text

MODULE = """HloModule m, is_scheduled=true

fused {
  p = f32[8]{0} parameter(0)
  q = f32[8]{0} parameter(1)
  ROOT r = (f32[8]{0}, f32[8]{0}) tuple(p, q)
}

ENTRY main {
  a = f32[8]{0:S(3)} parameter(0)
  b = f32[8]{0:S(1)} parameter(1)
  pair = (f32[8]{0}, f32[8]{0:S(3)}) fusion(b, a), kind=kLoop, calls=fused, CONFIG
  first = f32[8]{0} get-tuple-element(pair), index=0
  ROOT sum = f32[8]{0:S(3)} add(first, a), CONFIG
}
""".replace("CONFIG", 'backend_config={"window_config":{"estimated_cycles":"12"}}')


def test_estimates_say_what_was_in_fast_memory() -> None:
    assert estimates_in(MODULE, fast_space=3) == [
        Estimate("pair", 12, (1,), (1,)),
        Estimate("sum", 12, (1,), (0,)),
    ]
    assert estimates_in(MODULE, fast_space=1)[0] == Estimate("pair", 12, (0,), ())


def test_a_text_that_is_no_module_is_refused() -> None:
    with pytest.raises(ValueError, match="HloModule"):
        estimates_in("nothing", fast_space=3)


def test_estimates_survive_being_written(tmp_path: Path) -> None:
    estimates = [Estimate("a", 7, (0, 2), ()), Estimate("b", 0, (), (1,))]
    write_estimates(tmp_path / "estimates.csv.gz", estimates)
    assert read_estimates(tmp_path / "estimates.csv.gz") == estimates


def test_cycles_of_one_compile_only_leave_the_other_side_empty(tmp_path: Path) -> None:
    placed = [Estimate("both", 5, (0,), ()), Estimate("placed", 6, (), (0,))]
    slow = [Estimate("slow", 8, (), ()), Estimate("both", 9, (), ())]
    write_cycles(tmp_path / "cycles.csv", placed, slow)
    assert read_text(tmp_path / "cycles.csv").splitlines()[1:] == [
        "both,5,9,0,",
        "placed,6,,,0",
        "slow,,8,,",
    ]
