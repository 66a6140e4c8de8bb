"""Windows that slide over arrays: how convolutions and reductions visit elements."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class WindowDimension:
    """One dimension of a window, in elements of the array that it slides over."""

    size: int
    stride: int = 1
    pad_low: int = 0
    """Elements added before the first; negative if some are cut off."""
    pad_high: int = 0
    base_dilation: int = 1
    """Distance between neighbours of the array once holes are put between them."""
    window_dilation: int = 1
    """Distance between neighbours of the window."""


@lru_cache(maxsize=4096)
def parse_window(text: str) -> tuple[WindowDimension, ...]:
    """Parse an attribute such as ``{size=3x3 stride=2x2 pad=1_1x1_1}``.

    >>> parse_window("{size=3 pad=1_0}")[0].pad_low
    1

    Raises:
        ValueError: It gives two properties in different numbers of dimensions.
    """
    fields = dict(re.findall(r"(\w+)=([\dx_\-]+)", text))
    sizes = [int(size) for size in fields.get("size", "").split("x") if size]
    rank = len(sizes)
    pads = [part.split("_") for part in _parts(fields, "pad", "0_0", rank)]
    columns = (
        sizes,
        _numbers(fields, "stride", rank),
        [int(low) for low, _ in pads],
        [int(high) for _, high in pads],
        _numbers(fields, "lhs_dilate", rank),
        _numbers(fields, "rhs_dilate", rank),
    )
    return tuple(WindowDimension(*row) for row in zip(*columns, strict=True))


def _parts(fields: dict[str, str], name: str, default: str, rank: int) -> list[str]:
    parts = fields[name].split("x") if name in fields else [default] * rank
    if len(parts) != rank:
        raise ValueError(f"window: {len(parts)} dimensions in {name}, {rank} in size")
    return parts


def _numbers(fields: dict[str, str], name: str, rank: int) -> list[int]:
    numbers = [int(part) for part in _parts(fields, name, "1", rank)]
    if any(number < 1 for number in numbers):
        raise ValueError(f"window: expected {name} of at least 1, got {fields[name]}")
    return numbers


@lru_cache(maxsize=65536)
def valid_taps(window: WindowDimension, input_size: int, output_size: int) -> int:
    """Pairs of an output and a window position that meet an element of the input.

    Padding and the holes of a dilated input do not count. A window that is reversed
    has as many.

    Args:
        window: One dimension of the window.
        input_size: Elements of the input along it.
        output_size: Elements of the output along it.
    """
    step = math.gcd(window.stride, window.base_dilation)
    period = window.base_dilation // step
    inverse = pow(window.stride // step, -1, period) if period > 1 else 0
    last = (input_size - 1) * window.base_dilation
    taps = 0
    for position in range(window.size):
        # Output o meets element (o * stride - first) / base_dilation, if that is whole.
        first = window.pad_low - position * window.window_dilation
        if first % step:
            continue
        low = max(0, -(-first // window.stride))
        high = min(output_size - 1, (first + last) // window.stride)
        residue = first // step * inverse % period
        low += (residue - low) % period
        taps += max(0, (high - low) // period + 1)
    return taps
