"""Numbers that must lie within a range, such as the options of a strategy."""

from __future__ import annotations

import math


def require_within(
    name: str, value: float, least: float, most: float = math.inf
) -> None:
    """Refuse a number outside a range, for a dataclass that checks itself at birth.

    Args:
        name: What to call it.
        value: The number; never infinite, even where there is no largest one.
        least: The smallest that is allowed.
        most: The largest that is allowed.

    Raises:
        ValueError: It is outside, infinite or not a number.

    >>> require_within("attempts", 3, 0)
    >>> require_within("share", 1.5, 0, 1)
    Traceback (most recent call last):
    ValueError: share 1.5 is not in [0, 1]
    """
    if not (least <= value <= most and value < math.inf):
        end = "inf)" if most == math.inf else f"{most}]"
        raise ValueError(f"{name} {value} is not in [{least}, {end}")
