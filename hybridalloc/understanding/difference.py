"""What there is to say about how two maps of one program differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum


class Change(StrEnum):
    """How a buffer's allocations differ between two maps, a and b."""

    ONLY_A = "only a"
    """Only the first map places it."""
    ONLY_B = "only b"
    """Only the second map places it."""
    SERVED = "served"
    """Both place it, and serve different accesses of it from fast memory."""
    TIME = "time"
    """Both serve the same accesses; allocations or copies begin or end elsewhere."""
    OFFSET = "offset"
    """Only offsets differ."""


@dataclass(frozen=True, slots=True)
class Times:
    """Both maps under one cost model; seconds of one run."""

    cost_model: str
    a_s: float
    b_s: float
    a_stall_s: float
    """The part of ``a_s`` in which the program waits for copies."""
    b_stall_s: float

    @property
    def change_s(self) -> float:
        """Seconds that b takes longer than a."""
        return self.b_s - self.a_s

    @property
    def stall_change_s(self) -> float:
        """The part of that which is stalls."""
        return self.b_stall_s - self.a_stall_s


@dataclass(frozen=True, slots=True)
class Figures:
    """One of the maps by itself."""

    allocations: int
    buffers: int
    """How many buffers it places."""
    prefetches: int
    evictions: int
    peak_bytes: int
    """The highest address used."""
    moved_bytes: int
    """Of all copies, each as often as it runs."""
    byte_seconds: float
    """Bytes held, each times the seconds of one run for which it is held, were
    everything in slow memory; slices from their own issue."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """What both maps do alike."""

    byte_seconds: float
    """Of the same buffers at the same time, wherever in fast memory they are."""
    share_of_a: float | None
    """Of what a holds; ``None`` if that is nothing."""
    share_of_b: float | None
    jaccard: float | None
    """Of what a or b holds: 1 if they hold the same at all times."""
    prefetches: int
    """Prefetches in both of the same buffer for the same first access."""
    prefetches_close: int
    """Those of them that start within two instructions of each other."""


@dataclass(frozen=True, slots=True)
class BufferChange:
    """A buffer whose allocations differ."""

    buffer: int
    name: str
    size: int
    """Bytes."""
    change: Change
    to_fast: int
    """Accesses that only b serves from fast memory."""
    to_slow: int
    """Accesses that only a serves from fast memory."""
    effect_s: float
    """Seconds of one run that b takes longer because of these accesses, stalls
    apart; negative if it is faster. See ``InstructionChange``."""


@dataclass(frozen=True, slots=True)
class InstructionChange:
    """An instruction with accesses that the maps serve from different memories.

    What each of these accesses has to do with the difference in time is the mean of
    two ways to get from a to b, one access after the other: in the order of the
    instruction's accesses, and in reverse. So the effects of all of them sum up to
    the difference.
    """

    instruction: int
    name: str
    runs: int
    """How often it runs."""
    change_s: float
    """Seconds of one run that it takes longer in b."""
    to_fast: tuple[str, ...]
    """The buffers that only b serves from fast memory."""
    to_slow: tuple[str, ...]
    """The buffers that only a serves from fast memory."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How two maps of one problem differ; seconds are simulated."""

    program: str
    target: str
    cost_model: str
    """The one that ``buffers`` and ``instructions`` are about."""
    capacity_bytes: int
    times: tuple[Times, ...]
    """Under that cost model first, then under the others, as far as there are any."""
    a: Figures
    b: Figures
    overlap: Overlap
    unchanged: int
    """Buffers that both maps place in the same way."""
    buffers: tuple[BufferChange, ...]
    """By effect, the largest first; then by size, those that only moved last."""
    instructions: tuple[InstructionChange, ...]
    """By difference in time, the largest first."""

    @property
    def running_change_s(self) -> float:
        """Seconds that the instructions take longer in b, stalls apart."""
        return math.fsum(x.change_s for x in self.instructions)
