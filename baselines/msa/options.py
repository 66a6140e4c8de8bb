"""The options of ``msa``, named as in XLA, with its defaults for CMEM."""

from __future__ import annotations

from dataclasses import dataclass, fields

from hybridalloc.ranges import require_within

DEEPEST = 8
"""Loops deeper than this count as this deep, so that all times fit into one sum."""
LEAST_SCALING = 1e-6
"""Copies are taken to be at most a million times slower than slow memory."""
LARGEST = 2**53
"""No option is larger, so that float64 holds every whole number exactly."""


@dataclass(frozen=True, slots=True)
class MsaOptions:
    """What steers XLA's Memory Space Assignment.

    The compiler's flags are called the same, behind a prefix of ``xla_tpu_``, ``xla_``,
    ``xla_tpu_cmem_`` or ``xla_tpu_msa_``.
    """

    min_overlap_to_async_copy_ratio: float = 1.0
    """What runs beside a prefetch takes at least this multiple of the copy's time."""
    preferred_overlap_to_async_copy_ratio: float = 2.0
    """What runs beside a prefetch takes about this multiple, if it can, of its time."""
    max_overlap_to_mem_size_async_copy_ratio: float = 8.0
    """A buffer waits in fast memory for its next use for at most this multiple of the
    time in which all of fast memory could be copied."""
    prefetch_interval_picker_size_override: int = -1
    """The bytes for which the overlap of every copy is chosen; -1: XLA's typical size,
    0: each buffer's own."""
    async_copy_bandwidth_scaling_factor: float = 1.0
    """Copies are taken to be this much faster than slow memory."""
    max_outstanding_prefetches: int | None = None
    """How many prefetches may overlap; by default what the target allows."""
    max_outstanding_evictions: int | None = None
    """How many evictions may overlap; by default what the target allows."""
    while_use_extra_outstanding_prefetch_limit: int = 0
    """How many more prefetches may overlap if one is for a loop."""
    enforce_prefetch_fifo_order: bool = False
    """Whether what is fetched first must be used first."""
    max_retries: int = 2
    """How often a buffer is tried, each time with longer evictions."""
    max_repacks: int = 4
    """How often all offsets are chosen anew when memory seems full."""
    inefficient_use_to_copy_ratio: float = 0.5
    """A stay whose accesses move less than this multiple of its copies is undone."""
    while_execution_count: int = 5
    """How often a loop is taken to run, whatever its trip count."""
    max_cross_program_prefetches: int = 1
    """How many inputs to fetch before the program starts, if the target allows it."""
    enable_cross_program_prefetch_freeing: bool = True
    """Whether an input that is fetched before the program starts may give up its place
    after its last use."""
    sliced_prefetch_max_slices: int = 4
    """Into how many parts a prefetch may be cut, if the target allows it."""
    sliced_prefetch_min_bytes: int = 2**20
    """Prefetches of fewer bytes are not cut."""

    def __post_init__(self) -> None:
        least = {
            "prefetch_interval_picker_size_override": -1,
            "async_copy_bandwidth_scaling_factor": LEAST_SCALING,
            "while_execution_count": 1,
        }
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                require_within(field.name, value, least.get(field.name, 0), LARGEST)

    def runs(self, depth: int) -> int:
        """How often an instruction within so many loops is taken to run."""
        return int(self.while_execution_count ** min(depth, DEEPEST))
