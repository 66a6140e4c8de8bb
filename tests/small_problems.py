"""Tiny random problems by seed, small enough for every valid map to be tried.

At most four buffers and six instructions. Times and sizes are such that copies are
worth their while but may have to be waited for, and buffers compete for fast memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hybridalloc.liveness import live_bytes
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import (
    Access,
    Buffer,
    Instruction,
    Loop,
    Memory,
    Observation,
    Program,
)
from hybridalloc.target import CopyEngine, MemorySpace, Target

RARELY = 0.06
"""How likely is what should not shape most problems."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a problem is at most."""

    buffers: int = 4
    instructions: int = 6
    loops: int = 2


def small_problem(seed: int, sizes: Sizes | None = None) -> Problem:
    """The problem of this seed, always the same.

    Args:
        seed: Any number that is not negative.
        sizes: How large it may be.
    """
    return _Draw(np.random.default_rng(seed), sizes or Sizes()).problem()


class _Draw:
    def __init__(self, random: np.random.Generator, sizes: Sizes) -> None:
        self._random, self._sizes = random, sizes
        self._end = self._between(min(3, sizes.instructions), sizes.instructions)

    def problem(self) -> Problem:
        """Everything, in the order in which it is drawn."""
        count = self._between(min(2, self._sizes.buffers), self._sizes.buffers)
        buffers = [self._buffer(f"b{b}") for b in range(count)]
        accesses: list[list[Access]] = [[] for _ in range(self._end)]
        for index, buffer in enumerate(buffers):
            for t, access in self._accesses(index, buffer):
                accesses[t].append(access)
        model = CostModel.CYCLES if self._may(0.3) else CostModel.ROOFLINE
        steps = [self._instruction(t, x, model) for t, x in enumerate(accesses)]
        loops = self._loops(0, self._end, self._sizes.loops) if self._may(0.5) else []
        program = Program("small", tuple(steps), tuple(buffers), tuple(loops))
        return Problem(program, self._target(program), model)

    def _may(self, share: float) -> bool:
        return bool(self._random.random() < share)

    def _between(self, low: int, high: int) -> int:
        return int(self._random.integers(low, high + 1))

    def _one_of(self, *values: float) -> float:
        return values[self._between(0, len(values) - 1)]

    def _buffer(self, name: str) -> Buffer:
        """An input, a temporary, an output or a donated buffer."""
        kind = self._random.random()
        pin = self._random.random()
        memory = Memory.ANY
        if pin < RARELY:
            memory = Memory.FAST if pin < RARELY / 2 else Memory.SLOW
        return Buffer(
            name,
            self._between(2, 12),
            is_input=kind < 0.3 or kind > 0.9,
            is_output=kind > 0.7,
            cross_program=self._may(0.8),
            memory=memory,
            offset=4 * self._between(0, 2) if self._may(RARELY) else None,
        )

    def _accesses(self, index: int, buffer: Buffer) -> list[tuple[int, Access]]:
        """One to four, the first of what is no input a write of the whole buffer."""
        most = 4 if self._may(0.15) else 3
        count = min(self._end, self._between(1 if buffer.is_output else 2, most))
        if not buffer.is_input and not self._may(0.1):  # early, so that it may wait
            first = self._between(0, max(0, self._end - count))
            rest = range(first + 1, self._end)
            times = [first, *self._sample(rest, count - 1)]
        else:
            times = self._sample(range(self._end), count)
        return [
            (t, self._access(index, buffer, is_first=not i))
            for i, t in enumerate(times)
        ]

    def _sample(self, times: Sequence[int], count: int) -> list[int]:
        chosen = self._random.permutation(len(times))[:count]
        return sorted(times[i] for i in chosen.tolist())

    def _access(self, index: int, buffer: Buffer, *, is_first: bool) -> Access:
        size = buffer.size
        if is_first and not buffer.is_input:
            return Access(index, 0, size, whole=True)
        kind = self._random.random()
        if buffer.is_input and not buffer.is_output and self._may(0.85):
            kind = 0.0
        if kind < 0.65:
            return Access(index, read_bytes=size * self._between(1, 2))
        if kind < 0.75:
            return Access(index, 0, size, whole=True)
        if kind < 0.9:
            return Access(index, self._between(1, size), self._between(1, size))
        return Access(index, 0, self._between(1, size))

    def _instruction(
        self, t: int, accesses: list[Access], model: CostModel
    ) -> Instruction:
        seconds = float(self._one_of(0, 0, 1, 2, 4, 8, 16)) * self._between(1, 3)
        step = Instruction(
            f"i{t}",
            seconds,
            tuple(accesses),
            scratch_bytes=self._between(1, 8) if self._may(RARELY) else 0,
        )
        if model is CostModel.ROOFLINE or (t and self._may(0.4)):
            return step
        return replace(step, observations=self._observations(step))

    def _observations(self, step: Instruction) -> tuple[Observation, ...]:
        """With everything in slow memory; mostly with some buffers in fast; more."""
        traffic = sum(x.read_bytes + x.write_bytes for x in step.accesses)
        seen = [Observation((), step.compute_s + self._between(0, 2) * traffic)]
        buffers = [access.buffer for access in step.accesses]
        for _ in range(self._between(0, 3) if buffers else 0):
            count = self._between(1, len(buffers))
            fast = tuple(self._sample(sorted(buffers), count))
            if all(fast != other.fast for other in seen):
                cycles = step.compute_s + self._random.integers(0, 5) * traffic / 4
                seen.append(Observation(fast, float(cycles)))
        return tuple(seen)

    def _loops(self, low: int, high: int, most: int) -> list[Loop]:
        """Loops within [low, high) and within each other, none as long as that."""
        loops: list[Loop] = []
        while high - low >= 2 and len(loops) < most:
            start = self._between(low, high - 2)
            end = self._between(start + 1, high)
            if end - start == high - low:
                break
            loops.append(Loop(start, end, self._between(1, 4)))
            if self._may(0.5):
                loops += self._loops(start, end, most - len(loops))
            low = end
        return loops

    def _target(self, program: Program) -> Target:
        """Fast memory of 30 to 90 % of what is live at the peak."""
        peak = int(live_bytes(program).max())
        capacity = max(4, round(peak * self._random.uniform(0.3, 0.9)))
        alignment = int(self._one_of(1, 4))
        reserved: tuple[tuple[int, int], ...] = ()
        if self._may(RARELY):
            low = self._between(0, capacity - 1)
            reserved = ((low, min(capacity, low + self._between(1, 4))),)
        fast = MemorySpace(
            "fast",
            self._one_of(8, 16, 32),
            self._one_of(8, 16, 32),
            capacity,
            alignment,
            reserved,
        )
        slow = MemorySpace("slow", self._one_of(0.5, 1, 2), self._one_of(0.5, 1, 2))
        return Target(
            name="small",
            spaces=(fast, slow),
            flops_per_second=1.0,
            clock_hz=1.0,
            copy_engine=self._engine(),
            cross_program_prefetches=int(self._may(0.65)),
        )

    def _engine(self) -> CopyEngine:
        return CopyEngine(
            max_outstanding_prefetches=0 if self._may(RARELY) else self._between(1, 4),
            max_outstanding_evictions=0 if self._may(RARELY) else self._between(1, 4),
            startup_s=float(self._one_of(0.5, 2)) if self._may(RARELY) else 0.0,
            max_slices=1,
        )
