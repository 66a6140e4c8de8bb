"""Numbers outside their range are refused, with the range."""

from __future__ import annotations

import math

import pytest

from hybridalloc.ranges import require_within


@pytest.mark.parametrize("value", [0, 0.5, 1])
def test_either_end_belongs_to_a_range(value: float) -> None:
    require_within("share", value, 0, 1)


@pytest.mark.parametrize("value", [-1, 1.5, math.nan, math.inf, -math.inf])
def test_what_is_outside_a_range_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match=rf"^share {value} is not in \[0, 1\]$"):
        require_within("share", value, 0, 1)


@pytest.mark.parametrize("value", [math.nan, math.inf, -1])
def test_nothing_is_infinite_even_where_there_is_no_largest(value: float) -> None:
    require_within("steps", 10**400, 0)
    with pytest.raises(ValueError, match=rf"^steps {value} is not in \[0, inf\)$"):
        require_within("steps", value, 0)
