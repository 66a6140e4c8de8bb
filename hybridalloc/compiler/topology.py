"""The targets that the compiler knows, in its terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from hybridalloc.errors import UsageError


@dataclass(frozen=True, slots=True)
class Topology:
    """What the compiler calls a target."""

    name: str
    """Chips and how they are joined, such as ``v5e:2x2``."""
    chips_per_host: tuple[int, int, int] | None
    """Given only where the compiler's own default does not fit."""
    fast_space: int
    """The number that layouts have for fast memory: 3 is CMEM, 1 is VMEM."""


TOPOLOGIES: Mapping[str, Topology] = {
    "tpu-v4i": Topology("v4 lite:1x1x1", (1, 1, 1), fast_space=3),
    "tpu-v4": Topology("v4:2x2x1", None, fast_space=3),
    "tpu-v5e": Topology("v5e:2x2", None, fast_space=1),
}
"""By target."""


def get_topology(target: str) -> Topology:
    """The topology of a target.

    Raises:
        UsageError: The compiler cannot compile for it.
    """
    if target in TOPOLOGIES:
        return TOPOLOGIES[target]
    close = get_close_matches(target, TOPOLOGIES, n=1)
    hint = f"did you mean {close[0]!r}?" if close else ""
    known = f"expected one of {', '.join(TOPOLOGIES)}"
    raise UsageError(f"cannot compile for {target!r}; {hint or known}")
