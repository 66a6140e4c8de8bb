"""What the checker reports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Rule(StrEnum):
    """The rules that make a map valid (docs/model.md, "Valid maps")."""

    BUFFER = "buffer"
    PINNED = "pinned"
    RANGE = "range"
    OFFSET = "offset"
    RESERVED = "reserved"
    OVERLAP = "overlap"
    SLICES = "slices"
    STALE_READ = "stale_read"
    STALE_PREFETCH = "stale_prefetch"
    STALE_ALLOCATION = "stale_allocation"
    EVICTION = "eviction"
    LOOP_COPY = "loop_copy"
    LOOP_STATE = "loop_state"
    OUTPUT = "output"
    OUTSTANDING = "outstanding"
    CROSS_PROGRAM = "cross_program"


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a map breaks a rule."""

    rule: Rule
    message: str
    """A sentence that names buffers, allocations and points, with all numbers."""
    allocations: tuple[int, ...] = ()
    """Indices into ``MemoryMap.allocations`` of those concerned."""
    instruction: int | None = None
    """Where in the schedule it happens; ``T`` for the end of the run."""
