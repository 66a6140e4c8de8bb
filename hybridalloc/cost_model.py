"""What an instruction costs, given which of its accesses fast memory serves.

``elapsed`` and ``idle`` are the definition (docs/model.md, Time). ``Costs`` holds the
same numbers as coefficients in flat arrays, for inner loops.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybridalloc.arrays import Floats, Ints
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Instruction, Observation
from hybridalloc.target import MemorySpace, Target

_MOST_RUNS = 10**300
"""Loops within loops may run more often than any floating-point number tells."""


def elapsed(problem: Problem, t: int, fast: Collection[int]) -> float:
    """How long instruction ``t`` runs, stalls apart: ``Elapsed(t, S)``.

    Args:
        problem: Its cost model decides.
        t: The instruction's index.
        fast: The buffers, as indices, whose accesses fast memory serves; those that
            the instruction does not access make no difference.

    Returns:
        Seconds (docs/model.md, Time).
    """
    instruction = problem.program.instructions[t]
    served = _served(instruction, fast)
    if not problem.observations[t]:
        return _roofline(problem.target, instruction, served)
    return _cycles(problem.target, instruction, problem.observations[t], served)


def idle(problem: Problem, t: int, fast: Collection[int]) -> float:
    """How long copies have the slow memory to themselves: ``Idle(t, S)``.

    Args:
        problem: Its cost model decides.
        t: The instruction's index.
        fast: As for ``elapsed``.

    Returns:
        Seconds, at least 0 (docs/model.md, Time).
    """
    instruction = problem.program.instructions[t]
    slow_s = sum(
        traffic_s(problem.target.slow, access)
        for access in instruction.accesses
        if access.buffer not in fast
    )
    return elapsed(problem, t, fast) - slow_s


def traffic_s(space: MemorySpace, access: Access) -> float:
    """Seconds in which a memory space serves an access."""
    return (
        access.read_bytes / space.read_bandwidth
        + access.write_bytes / space.write_bandwidth
    )


def _served(instruction: Instruction, fast: Collection[int]) -> frozenset[int]:
    return frozenset(a.buffer for a in instruction.accesses if a.buffer in fast)


def _roofline(target: Target, instruction: Instruction, fast: frozenset[int]) -> float:
    memory_s = sum(
        traffic_s(target.fast if access.buffer in fast else target.slow, access)
        for access in instruction.accesses
    )
    return max(instruction.compute_s, memory_s)


def _fast_bytes(instruction: Instruction, fast: frozenset[int]) -> int:
    return sum(
        access.read_bytes + access.write_bytes
        for access in instruction.accesses
        if access.buffer in fast
    )


def _cycles(
    target: Target,
    instruction: Instruction,
    observations: Sequence[Observation],
    fast: frozenset[int],
) -> float:
    """The rows of the table in docs/model.md, in its order."""
    roofline = _roofline(target, instruction, fast)
    all_slow = _roofline(target, instruction, frozenset())
    estimates = _Estimates.of(instruction, observations, target.clock_hz)
    named_bytes = _fast_bytes(instruction, estimates.named)
    if fast in estimates.further:
        return max(roofline, estimates.further[fast])
    if estimates.h is None:
        return roofline
    h, m = max(estimates.h, all_slow), estimates.m
    if m is None or named_bytes == 0:
        return max(roofline, h - (all_slow - roofline))
    if m <= h:
        share = _fast_bytes(instruction, fast) / named_bytes
        return max(roofline, m, h - (h - m) * share)
    return max(roofline, m) if fast else h


@dataclass(frozen=True, slots=True)
class _Estimates:
    """The observations of an instruction, in seconds, by their part in the model."""

    h: float | None
    m: float | None
    named: frozenset[int]
    """The buffers, among those accessed, that ``m`` has in fast memory."""
    further: dict[frozenset[int], float]
    """The other placements, each by the buffers accessed in fast memory."""

    @staticmethod
    def of(
        instruction: Instruction, seen: Sequence[Observation], clock_hz: float
    ) -> _Estimates:
        h = next((x for x in seen if not x.fast), None)
        m = next((x for x in seen if x.fast), None)
        named = _served(instruction, m.fast) if m else frozenset()
        known = {_served(instruction, x.fast) for x in (h, m) if x}
        further: dict[frozenset[int], float] = {}
        for x in seen:
            placement = _served(instruction, x.fast)
            if placement not in known:
                further.setdefault(placement, x.cycles / clock_hz)
        return _Estimates(
            h=h.cycles / clock_hz if h else None,
            m=m.cycles / clock_hz if m else None,
            named=named,
            further=further,
        )


class Costs(NamedTuple):
    """The cost of every instruction under every placement, as coefficients.

    With the sums over the accesses of ``t`` that ``fast_s``, ``slow_s`` and
    ``fast_bytes`` stand for, and ``R = max(compute_s, fast_s + slow_s)``::

        Elapsed = max(R, empty_s)                  if no access is served fast
        Elapsed = max(R + extra_s, floor_s, line_s - slope_s * fast_bytes)   else

    unless the accesses served fast are exactly a further observed placement: then
    ``max(R, seen_s)``.
    """

    first_access: Ints
    """(T+1,): accesses ``first_access[t]`` to ``first_access[t+1]`` are those of t."""
    slow_s: Floats
    """(accesses,): seconds from slow memory."""
    fast_s: Floats
    """(accesses,): seconds from fast memory."""
    access_bytes: Floats
    """(accesses,): bytes read and written."""
    all_slow_s: Floats
    """(T,): the sum of ``slow_s`` over the accesses of the instruction."""
    runs: Floats
    """(T,): how often the instruction runs, ``k(t)``."""
    compute_s: Floats
    """(T,)"""
    empty_s: Floats
    """(T,)"""
    extra_s: Floats
    """(T,)"""
    floor_s: Floats
    """(T,)"""
    line_s: Floats
    """(T,)"""
    slope_s: Floats
    """(T,): seconds per byte."""
    first_seen: Ints
    """(T+1,): the further observations of each instruction."""
    seen_s: Floats
    """(further observations,): seconds."""
    first_seen_access: Ints
    """(further observations + 1,): the accesses that each has in fast memory."""
    seen_access: Ints
    """(sum of those,): indices into the accesses."""


class Uses(NamedTuple):
    """The accesses of each buffer, in schedule order."""

    first: Ints
    """(buffers+1,): uses ``first[b]`` to ``first[b+1]`` are those of buffer b."""
    instruction: Ints
    """(uses,): the instruction."""
    access: Ints
    """(uses,): the index among all accesses of the program."""


def compile_costs(problem: Problem) -> Costs:
    """The coefficients of every instruction of a problem, under its cost model.

    Args:
        problem: The program, target and cost model.

    Returns:
        Arrays, all C-contiguous; see ``Costs``.
    """
    program, target = problem.program, problem.target
    accesses = [a for i in program.instructions for a in i.accesses]
    first_access = _firsts(len(i.accesses) for i in program.instructions)
    lines = _floats([_line(problem, t) for t in range(len(program))]).reshape(-1, 5)
    return Costs(
        first_access=first_access,
        slow_s=_floats([traffic_s(target.slow, a) for a in accesses]),
        fast_s=_floats([traffic_s(target.fast, a) for a in accesses]),
        access_bytes=_floats([a.read_bytes + a.write_bytes for a in accesses]),
        all_slow_s=_floats(
            [
                sum(traffic_s(target.slow, a) for a in i.accesses)
                for i in program.instructions
            ]
        ),
        runs=_floats([min(runs, _MOST_RUNS) for runs in program.multiplicity]),
        compute_s=_floats([i.compute_s for i in program.instructions]),
        empty_s=lines[:, 0].copy(),
        extra_s=lines[:, 1].copy(),
        floor_s=lines[:, 2].copy(),
        line_s=lines[:, 3].copy(),
        slope_s=lines[:, 4].copy(),
        **_compile_seen(problem, first_access),
    )


def _line(problem: Problem, t: int) -> tuple[float, float, float, float, float]:
    """The instruction's ``empty_s``, ``extra_s``, ``floor_s``, ``line_s``, slope."""
    estimates = _estimates(problem, t)
    if estimates.h is None:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    instruction = problem.program.instructions[t]
    all_slow = _roofline(problem.target, instruction, frozenset())
    h, m = max(estimates.h, all_slow), estimates.m
    named_bytes = _fast_bytes(instruction, estimates.named)
    if m is None or named_bytes == 0:
        return h, h - all_slow, 0.0, 0.0, 0.0
    if m <= h:
        return h, 0.0, m, h, (h - m) / named_bytes
    return h, 0.0, m, 0.0, 0.0


def _estimates(problem: Problem, t: int) -> _Estimates:
    instruction = problem.program.instructions[t]
    return _Estimates.of(instruction, problem.observations[t], problem.target.clock_hz)


def _compile_seen(problem: Problem, first_access: Ints) -> dict[str, NDArray[Any]]:
    """The further observed placements, as the arrays of ``Costs`` that hold them."""
    counts: list[int] = []
    seconds: list[float] = []
    placements: list[list[int]] = []
    for t, instruction in enumerate(problem.program.instructions):
        first, further = int(first_access[t]), _estimates(problem, t).further
        counts.append(len(further))
        seconds += further.values()
        placements += [
            [first + i for i, a in enumerate(instruction.accesses) if a.buffer in fast]
            for fast in further
        ]
    return {
        "first_seen": _firsts(iter(counts)),
        "seen_s": _floats(seconds),
        "first_seen_access": _firsts(map(len, placements)),
        "seen_access": np.array([i for p in placements for i in p], dtype=np.int64),
    }


def _firsts(counts: Iterator[int]) -> Ints:
    """Where each of consecutive groups of these sizes begins, and the end."""
    return np.array(list(accumulate(counts, initial=0)), dtype=np.int64)


def _floats(values: Collection[Any]) -> Floats:
    return np.array(values, dtype=np.float64)
