"""Traffic and compute time, recovered from the benefits that XLA prints.

A benefit is the sum of the seconds that fast memory saves at each site of a buffer,
over the square root of its size; instructions that compute longer than they move save
nothing (hybridalloc/benefit.py). Which those are is told by all buffers together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybridalloc.io.xla.roles import Role
from hybridalloc.target import Target

_ROUNDS = 200


@dataclass(frozen=True, slots=True)
class Recovered:
    """What each site moves and each instruction computes."""

    site_bytes: tuple[dict[int, int], ...]
    """For each buffer, the bytes that each instruction moves of it."""
    compute_s: tuple[float, ...]
    """For each instruction."""


def recover(roles: Sequence[Role], length: int, target: Target) -> Recovered:
    """Find traffic and compute times that give the printed benefits.

    Args:
        roles: The buffers.
        length: How many instructions there are.
        target: Gives the bandwidths of reading.
    """
    slow = target.slow.read_bandwidth
    saved_per_byte = 1 / slow - 1 / target.fast.read_bandwidth
    saved_s = [role.row.benefit * math.sqrt(role.row.size) for role in roles]
    bound = _memory_bound(roles, [x / saved_per_byte for x in saved_s], length)
    moved = tuple(
        _site_bytes(role, saved / saved_per_byte, bound)
        for role, saved in zip(roles, saved_s, strict=True)
    )
    memory_s, longer_s = np.zeros(length), np.zeros(length)
    for saved, counts in zip(saved_s, moved, strict=True):
        for t, count in counts.items():
            memory_s[t] += count / slow
            longer_s[t] = max(longer_s[t], -saved)
    compute_s = np.where(bound, 0.0, memory_s + longer_s)
    return Recovered(moved, tuple(compute_s.tolist()))


def _site_bytes(role: Role, total: float, bound: NDArray[np.bool_]) -> dict[int, int]:
    """Shared evenly over the sites that gain; the others move the whole buffer."""
    gaining = [t for t in role.sites if bound[t]]
    share = round(max(0.0, total) / len(gaining)) if gaining else 0
    return {t: share if bound[t] else role.row.size for t in role.sites}


def _memory_bound(
    roles: Sequence[Role], saved: list[float], length: int
) -> NDArray[np.bool_]:
    """Which instructions move longer than they compute, as far as benefits tell.

    Each buffer asks for as many such sites as its benefit would take at whole reads and
    writes, and all are heard in turns; a negative benefit allows none.
    """
    wished = np.ones(length)
    allowed = np.ones(length)
    for role, total in zip(roles, saved, strict=True):
        if total < 0:
            allowed[list(role.sites)] = 0.0
    buffers = [b for b, role in enumerate(roles) if role.sites and role.row.size]
    owner = np.repeat(buffers, [len(roles[b].sites) for b in buffers]).astype(np.int64)
    site = np.array([t for b in buffers for t in roles[b].sites], dtype=np.int64)
    counts = np.maximum(1, np.bincount(owner, minlength=len(roles)))
    sizes = np.array([max(1, role.row.size) for role in roles])
    due = np.clip(np.array(saved) / sizes, 0.0, counts)
    heard = np.maximum(1, np.bincount(site, minlength=length))
    for _ in range(_ROUNDS):
        wished = np.clip(wished, 0.0, allowed)
        held = np.bincount(owner, wished[site], minlength=len(roles))
        missing = ((due - held) / counts)[owner]
        wished = wished + np.bincount(site, missing, minlength=length) / heard
    return np.clip(wished, 0.0, allowed) >= 0.5
