"""The target: memory spaces, the engine that copies between them, and the clock."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from hybridalloc.errors import UsageError
from hybridalloc.program import MAX_BYTES

MIB = 2**20


def _require_positive(what: str, **values: float) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{what}: {name} {value} is not a positive number")


@dataclass(frozen=True, slots=True)
class MemorySpace:
    """One memory: how large it is and how fast."""

    name: str
    read_bandwidth: float
    """Bytes a second."""
    write_bandwidth: float
    """Bytes a second."""
    capacity: int | None = None
    """Bytes; ``None`` where it does not matter or is still to be given."""
    alignment: int = 1
    """Every offset is a multiple of this many bytes."""
    reserved: tuple[tuple[int, int], ...] = ()
    """Half-open ranges of bytes that no allocation may touch."""

    def __post_init__(self) -> None:
        what = f"memory space {self.name}"
        _require_positive(
            what,
            read_bandwidth=self.read_bandwidth,
            write_bandwidth=self.write_bandwidth,
            alignment=self.alignment,
        )
        if self.capacity is not None and not 0 < self.capacity < MAX_BYTES:
            raise ValueError(
                f"{what}: capacity {self.capacity} is not in [1, {MAX_BYTES})"
            )
        for low, high in self.reserved:
            if not 0 <= low < high:
                raise ValueError(f"{what}: reserved range [{low}, {high}) is empty")


@dataclass(frozen=True, slots=True)
class CopyEngine:
    """What copies between slow and fast memory while the program runs."""

    max_outstanding_prefetches: int = 40
    max_outstanding_evictions: int = 40
    startup_s: float = 0.0
    """Seconds of copy time that each copy takes before its first byte."""
    max_slices: int = 4
    """The most parts that one prefetch may be cut into."""

    def __post_init__(self) -> None:
        limits = {
            "max_outstanding_prefetches": (self.max_outstanding_prefetches, 0),
            "max_outstanding_evictions": (self.max_outstanding_evictions, 0),
            "startup_s": (self.startup_s, 0),
            "max_slices": (self.max_slices, 1),
        }
        for name, (value, least) in limits.items():
            if not (math.isfinite(value) and value >= least):
                raise ValueError(f"copy engine: {name} {value} is not >= {least}")


@dataclass(frozen=True, slots=True)
class Target:
    """The machine that a program is mapped for."""

    name: str
    spaces: tuple[MemorySpace, ...]
    """From the fastest to the slowest; today exactly two, fast and slow."""
    flops_per_second: float
    """Peak rate, which turns a program's operations into compute time."""
    clock_hz: float
    """Turns the compiler's cycle estimates into seconds."""
    copy_engine: CopyEngine = CopyEngine()
    cross_program_prefetches: int = 1
    """How many inputs may be fetched before the program starts."""

    def __post_init__(self) -> None:
        what = f"target {self.name}"
        if len(self.spaces) != 2:
            raise ValueError(
                f"{what}: expected two memory spaces, fast and slow, got "
                f"{len(self.spaces)}"
            )
        _require_positive(
            what, flops_per_second=self.flops_per_second, clock_hz=self.clock_hz
        )
        if self.cross_program_prefetches < 0:
            raise ValueError(
                f"{what}: cross_program_prefetches {self.cross_program_prefetches} "
                f"is negative"
            )

    @property
    def fast(self) -> MemorySpace:
        """The memory that is allocated."""
        return self.spaces[0]

    @property
    def slow(self) -> MemorySpace:
        """The memory that holds everything else."""
        return self.spaces[-1]

    @property
    def capacity(self) -> int:
        """Bytes of fast memory.

        Raises:
            UsageError: The target leaves its capacity to be given.
        """
        if self.fast.capacity is None:
            raise UsageError(
                f"target {self.name}: the capacity of its fast memory is not known; "
                f"give one with --capacity (capacity=...)"
            )
        return self.fast.capacity

    def with_capacity(self, capacity: int) -> Target:
        """The same target with this many bytes of fast memory."""
        fast = replace(self.fast, capacity=capacity)
        return replace(self, spaces=(fast, *self.spaces[1:]))


def _tpu(
    name: str, hbm: float, fast: float, flops: float, clock: float, mib: int | None
) -> Target:
    capacity = None if mib is None else mib * MIB
    return Target(
        name=name,
        spaces=(
            MemorySpace("fast", fast, fast, capacity, alignment=4096),
            MemorySpace("slow", hbm, hbm),
        ),
        flops_per_second=flops,
        clock_hz=clock,
    )


# The constants of XLA's own cost model, recovered from what the compiler prints.
TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        _tpu("tpu-v4i", 4.91772e11, 2.9506e12, 1.370e14, 1.05e9, 128),
        _tpu("tpu-v4", 4.91238e11, 2.9475e12, 1.370e14, 1.05e9, 64),
        _tpu("tpu-v5e", 7.37657e11, 1.6595e13, 1.970e14, 1.5e9, None),
    )
}
"""The built-in targets by name."""
