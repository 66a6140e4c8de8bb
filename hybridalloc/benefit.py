"""How much a buffer gains from fast memory, as XLA's Memory Space Assignment puts it.

XLA prints this number for each buffer and takes up the buffers in its order. It
computes in float32, and so does this module: where a small difference of two large
times remains, only the same roundings give the same digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hybridalloc.target import Target

LOOP_FACTOR = 5
"""How often a loop runs for XLA, whatever its trip count."""

FLOAT32_ROUNDING = 2**-24
"""Largest relative error of one rounding to float32."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where an instruction defines or uses a buffer."""

    compute_s: float
    """Seconds that the instruction computes."""
    total_bytes: float
    """Bytes of all that the instruction reads and writes."""
    site_bytes: float
    """Bytes that it reads or writes of this buffer, here."""
    is_write: bool = False
    runs: int = 1
    """How often XLA takes the instruction to run: ``LOOP_FACTOR`` for each loop."""


def constant_definition(target: Target) -> Site:
    """Where a constant is defined: for XLA, one clock cycle of computing."""
    return Site(compute_s=1 / target.clock_hz, total_bytes=0, site_bytes=0)


def benefit(site: Site, target: Target) -> float:
    """Seconds saved by having one site in fast memory.

    Where computing takes longer than memory: minus the seconds that it is longer by,
    however often the instruction runs.
    """
    fast = target.fast
    bandwidth = fast.write_bandwidth if site.is_write else fast.read_bandwidth
    slow_bandwidth = np.float32(target.slow.read_bandwidth)
    total, moved = np.float32(site.total_bytes), np.float32(site.site_bytes)
    compute, memory = np.float32(site.compute_s), total / slow_bandwidth
    if not memory > compute:
        return float(memory - compute)
    there = moved / np.float32(bandwidth) + (total - moved) / slow_bandwidth
    return float((memory - there) * np.float32(site.runs))


def memory_boundedness(
    definition: Site | None, uses: Iterable[Site], size: int, target: Target
) -> float:
    """XLA's score of a buffer: seconds saved over the square root of its bytes.

    Positive benefits add up; a buffer without any has the largest of its negative ones.

    Args:
        definition: Where it is written, or ``constant_definition``; None for an input
            of the program, which has a benefit of 0 there.
        uses: Every reading of it and of what shares its memory, but for those by
            tuples, whiles and conditionals.
        size: Bytes of the buffer.
        target: Gives the bandwidths.

    Raises:
        ValueError: The size is not positive.
    """
    if size <= 0:
        raise ValueError(f"size {size} is not positive")
    total = np.float32(benefit(definition, target) if definition else 0)
    for use in uses:
        gain = np.float32(benefit(use, target))
        total = total + gain if total > 0 and gain > 0 else max(total, gain)
    return float(total / np.float32(math.sqrt(size)))


def rounding_tolerance(
    definition: Site | None, uses: Iterable[Site], size: int, target: Target
) -> float:
    """How far float32 may put ``memory_boundedness`` off: two roundings a site.

    Args:
        definition: As for ``memory_boundedness``.
        uses: As for ``memory_boundedness``.
        size: Bytes of the buffer.
        target: Gives the bandwidth of slow memory.
    """
    sites = [*uses, *([definition] if definition else [])]
    seconds = [
        site.total_bytes / target.slow.read_bandwidth * site.runs for site in sites
    ]
    largest = max(seconds, default=0.0)
    return 2 * len(sites) * FLOAT32_ROUNDING * largest / math.sqrt(size)
