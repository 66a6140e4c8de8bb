"""Why a problem has no answer, where that is plain to see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hybridalloc.solver import Infeasibility
from hybridalloc.static.load import bytes_at, live_at, lower_bound, peak_of
from hybridalloc.static.problem import StaticBuffer, StaticProblem


@dataclass(frozen=True, slots=True)
class StaticInfeasibility(Infeasibility):
    """Why no offsets fit.

    The instruction is the instant when the memory does not suffice. The excess is what
    more it would take, at least; 0 where no memory would do. The culprits are the
    largest first; where their number allows it, without any one of them they fit.
    """

    reason: str


def refute(problem: StaticProblem) -> StaticInfeasibility | None:
    """A reason that is plain to see why no offsets fit the capacity, if there is one.

    Looks at single buffers, at pairs of fixed ones, and at what is live together.
    """
    for buffer in problem.buffers:
        found = _alone(buffer, problem)
        if found is not None:
            return found
    return _fixed_pair(problem.buffers) or _overload(problem)


def _alone(buffer: StaticBuffer, problem: StaticProblem) -> StaticInfeasibility | None:
    """Why one buffer cannot be placed at all."""
    offset, capacity = buffer.offset or 0, problem.capacity
    if offset % buffer.alignment:
        reason = f"its offset is not a multiple of {buffer.alignment}"
        return StaticInfeasibility(buffer.start, 0, (buffer.name,), reason)
    excess = 0 if capacity is None else offset + buffer.size - capacity
    if excess > 0:
        reason = "fixed too high" if offset else "larger than the memory"
        return StaticInfeasibility(buffer.start, excess, (buffer.name,), reason)
    return None


def _fixed_pair(buffers: Sequence[StaticBuffer]) -> StaticInfeasibility | None:
    """Two fixed buffers that take the same bytes at one time."""
    parts = sorted(
        (r.start, r.end, x.offset + r.low, x.offset + r.high, x.name)
        for x in buffers
        if x.offset is not None
        for r in x.rectangles
    )
    live: list[tuple[int, int, int, int, str]] = []
    for part in parts:
        start, _, low, high, name = part
        live = [x for x in live if x[1] > start]
        for _, _, first, last, other in live:
            if low < last and first < high:
                shared = min(last, high) - max(first, low)
                reason = f"both are fixed and share {shared} bytes"
                return StaticInfeasibility(start, 0, (other, name), reason)
        live.append(part)
    return None


def _overload(problem: StaticProblem) -> StaticInfeasibility | None:
    """More bytes that are live at one time than there are."""
    capacity = problem.capacity
    if capacity is None or lower_bound(problem) <= capacity:
        return None
    peak = peak_of(problem.buffers)
    excess = lower_bound(problem) - capacity
    reason = f"{peak.bytes} bytes are live at once"
    if peak.bytes <= capacity:  # with alignment or reserved ranges they do not fit
        reason += f", which take {lower_bound(problem)} bytes with what lies between"
        return StaticInfeasibility(peak.instant, excess, peak.buffers, reason)
    sizes = {
        x.name: bytes_at(x, peak.instant)
        for x in live_at(problem.buffers, peak.instant)
    }
    spare = peak.bytes - capacity
    culprits = list(peak.buffers)
    for name in reversed(peak.buffers):
        if sizes[name] < spare:
            spare -= sizes[name]
            culprits.remove(name)
    return StaticInfeasibility(peak.instant, excess, tuple(culprits), reason)
