"""Why a problem has no answer, where that is plain to see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hybridalloc.solver import Infeasibility
from hybridalloc.static.load import live_at, lower_bound, peak_of
from hybridalloc.static.problem import StaticBuffer, StaticProblem
from hybridalloc.static.units import common_alignment


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

    Looks at single buffers, at pairs of fixed ones, and at what is live together, but
    not at what is reserved.
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
    buffers, capacity = problem.buffers, problem.capacity
    if capacity is None or lower_bound(problem) <= capacity:
        return None
    for step in (1, common_alignment(problem)):
        peak = peak_of(buffers, step)
        if peak.bytes > capacity:
            sizes = live_at(buffers, peak.instant)
            reason = f"{sum(sizes.values())} bytes are live at once"
            if step > 1:
                reason += f", which take {peak.bytes} bytes with what lies between"
            culprits = _fewest(sizes, step, capacity)
            excess = lower_bound(problem) - capacity
            return StaticInfeasibility(peak.instant, excess, culprits, reason)
    return None


def _fewest(sizes: Mapping[str, int], step: int, capacity: int) -> tuple[str, ...]:
    """As few of what is live as exceed the memory: without any one, the rest does not.

    Args:
        sizes: Bytes by name, largest first.
        step: Of all but the topmost, bytes count up to the next multiple.
        capacity: Bytes.
    """
    padded = {name: -(-size // step) * step for name, size in sizes.items()}
    topmost = max(sizes, key=lambda name: padded[name] - sizes[name])
    spare = sum(padded.values()) - padded[topmost] + sizes[topmost] - capacity
    for name in reversed(list(sizes)):
        if name != topmost and padded[name] < spare:
            spare -= padded.pop(name)
    rest = padded.keys() - {topmost}
    padding = max((padded[name] - sizes[name] for name in rest), default=0)
    if sum(padded[name] for name in rest) - padding > capacity:
        del padded[topmost]
    return tuple(padded)
