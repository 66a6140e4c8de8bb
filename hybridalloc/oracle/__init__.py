"""The execution oracle: runs a program under a memory map and compares the data.

Arrays of words stand for the two memories, an instruction is a hash of what it reads,
and a copy takes effect between its issue and its due point. The program runs twice
in lockstep, in slow memory alone and under the map. The first read that sees other
data is a mismatch, and so is each output that ends up different. A map without any
computes what the program computes (docs/model.md, Valid maps); the reverse does not
hold, since a violation may spoil only data that nothing reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.oracle.plan import Copy, Plan, unusable
from hybridalloc.oracle.unroll import unroll
from hybridalloc.problem import Problem

Words = npt.NDArray[np.uint64]

_ONE = np.uint64(1)
_FACTOR = np.uint64(0x9E37_79B9_7F4A_7C15)
_MASK = 2**64 - 1
_POISON = np.uint64(0xDEAD_BEEF_DEAD_BEEF)
"""What a word holds whose content nobody may rely on."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Data that differs from what the program computes in slow memory alone."""

    buffer: int
    """Index into ``Program.buffers``, as the map gives it."""
    words: int
    """How many words differ; 0 if the map cannot be executed at all."""
    message: str


def execute(
    problem: Problem, memory_map: MemoryMap, *, trips: int = 3, seed: int = 0
) -> tuple[Mismatch, ...]:
    """Run the program in slow memory alone and under the map, and compare the data.

    A word stands for one alignment unit of fast memory (for more where that would be
    too many words). An access that is not ``whole`` depends on every word of its
    buffer, since which bytes it reads or keeps is not known; if it writes, it changes
    about ``write_bytes`` of them, other ones in each trip.

    Args:
        problem: The program, and the fast memory that it runs in.
        memory_map: Any map; one that cannot be executed gives mismatches that say so.
        trips: The most trips that a loop makes; each loop makes at least one, and
            inner ones fewer where too many would come together.
        seed: Chooses the inputs' content and what the instructions compute.

    Returns:
        The first read that differs, then each output that does, then each
        cross-program prefetch whose content is not there for the next run. Empty if
        both runs see the same data.

    Raises:
        UsageError: The map needs words so small that there are too many to lay out.
    """
    unexecutable = tuple(
        Mismatch(allocation.buffer, 0, f"allocation {index}: {reason}")
        for index, allocation in enumerate(memory_map.allocations)
        if (reason := unusable(problem, allocation))
    )
    if unexecutable:
        return unexecutable
    plan = Plan(problem, memory_map)
    run = _Run(plan, seed)
    for step in unroll(problem.program, trips):
        if step.is_point:
            for stage, copy in plan.copies.get((step.index, step.body), ()):
                run.memory.issue(copy) if stage.issues else run.memory.finish(copy)
        else:
            run.instruction(step.index)
    return (*run.first_read, *run.outputs(), *run.kept())


class _Memory:
    """The content of both memories, and the copies in flight between them."""

    def __init__(self, capacity: int, slow: list[Words]) -> None:
        self.fast = np.full(capacity, _POISON)
        self.slow = [words.copy() for words in slow]
        self.flying: dict[Copy, Words] = {}
        """What the source of each copy held at its issue."""

    def issue(self, copy: Copy) -> None:
        """Snapshot the source; the destination is good for nothing until it is due."""
        source, destination = self._ends(copy)
        self.flying[copy] = source.copy()
        if copy.is_eviction:  # what is written over an equal word leaves it readable
            destination[destination != source] = _POISON
        else:
            destination[:] = _POISON

    def finish(self, copy: Copy) -> None:
        """Deliver the words of the source that have not changed since the issue."""
        snapshot = self.flying.pop(copy, None)
        if snapshot is not None:
            source, destination = self._ends(copy)
            destination[:] = np.where(source == snapshot, snapshot, _POISON)

    def _ends(self, copy: Copy) -> tuple[Words, Words]:
        slow = self.slow[copy.buffer][copy.first : copy.last]
        fast = self.fast[copy.place : copy.place + copy.last - copy.first]
        return (fast, slow) if copy.is_eviction else (slow, fast)


class _Run:
    """The program's two runs, in slow memory alone and under the map, in lockstep."""

    def __init__(self, plan: Plan, seed: int) -> None:
        self.plan = plan
        rng = np.random.default_rng(seed)
        most = max(plan.sizes, default=0)
        self.keys: Words = rng.integers(2**64, size=most, dtype=np.uint64) | _ONE
        """One odd number for each position, so that digests depend on the order."""
        self.counts = [0] * len(plan.program)
        """How often each instruction has run."""
        self.first_read: tuple[Mismatch, ...] = ()
        self.initial = [
            self._fresh(index, size) if buffer.is_input else np.full(size, _POISON)
            for index, (buffer, size) in enumerate(
                zip(plan.program.buffers, plan.sizes, strict=True)
            )
        ]
        self.reference = _Memory(0, self.initial)
        self.memory = _Memory(plan.capacity, self.initial)
        for allocation in plan.kept:
            self._stay(allocation)[:] = self.initial[allocation.buffer]

    def instruction(self, t: int) -> None:
        """Execute instruction ``t`` in both runs."""
        for allocation in self.plan.produced.get(t, ()):
            self._stay(allocation)[:] = _POISON
        self._disturb(t)
        accesses = self.plan.program.instructions[t].accesses
        expected = [self.reference.slow[access.buffer] for access in accesses]
        actual = [self._served(t, access.buffer) for access in accesses]
        if not self.first_read:
            self._compare(t, expected, actual)
        self._compute(t, expected)
        self._compute(t, actual)
        self._disturb(t)
        self.counts[t] += 1

    def outputs(self) -> Iterator[Mismatch]:
        """Each output whose slow copy is different at the end."""
        for index, buffer in enumerate(self.plan.program.buffers):
            expected = self.reference.slow[index]
            wrong = _differing(expected, self.memory.slow[index])
            if buffer.is_output and wrong:
                yield Mismatch(
                    index,
                    wrong,
                    f"output {buffer.name}: {wrong} of {len(expected)} words are "
                    f"wrong in slow memory at the end",
                )

    def kept(self) -> Iterator[Mismatch]:
        """Each cross-program prefetch whose content the next run would not find."""
        for allocation in self.plan.kept:
            expected = self.initial[allocation.buffer]
            wrong = _differing(expected, self._stay(allocation))
            if wrong:
                yield Mismatch(
                    allocation.buffer,
                    wrong,
                    f"cross-program prefetch of "
                    f"{self.plan.program.buffers[allocation.buffer].name}: {wrong} of "
                    f"{len(expected)} words at offset {allocation.offset} are wrong "
                    f"for the next run",
                )

    def _stay(self, allocation: Allocation) -> Words:
        first = self.plan.place(allocation)
        return self.memory.fast[first : first + self.plan.sizes[allocation.buffer]]

    def _served(self, t: int, buffer: int) -> Words:
        allocation = self.plan.serving.get((t, buffer))
        return self._stay(allocation) if allocation else self.memory.slow[buffer]

    def _disturb(self, t: int) -> None:
        for first, last in self.plan.disturbed(t):
            self.memory.fast[first:last] = _POISON

    def _compare(self, t: int, expected: list[Words], actual: list[Words]) -> None:
        """Note the first read of the instruction that sees other data."""
        instruction, buffers = (
            self.plan.program.instructions[t],
            self.plan.program.buffers,
        )
        for access, right, seen in zip(
            instruction.accesses, expected, actual, strict=True
        ):
            wrong = 0 if access.whole else _differing(right, seen)
            if wrong:
                allocation = self.plan.serving.get((t, access.buffer))
                where = (
                    f"fast memory at offset {allocation.offset}"
                    if allocation
                    else "slow memory"
                )
                message = (
                    f"instruction {t} ({instruction.name}), run {self.counts[t]}: "
                    f"{wrong} of {len(right)} words of {buffers[access.buffer].name} "
                    f"are wrong in {where}"
                )
                self.first_read = (Mismatch(access.buffer, wrong, message),)
                return

    def _compute(self, t: int, operands: list[Words]) -> None:
        """Mix every word that the instruction reads into those that it writes."""
        accesses = self.plan.program.instructions[t].accesses
        state = _mix(t, self.counts[t])
        for access, words in zip(accesses, operands, strict=True):
            if not access.whole:
                state = _mix(state, int(np.dot(words, self.keys[: len(words)])))
        for position, (access, words) in enumerate(
            zip(accesses, operands, strict=True)
        ):
            if access.whole:
                words[:] = self._fresh(_mix(state, position), len(words))
            elif access.writes and len(words):
                count = min(len(words), self.plan.words(access.write_bytes))
                first = _mix(t, self.counts[t]) % (len(words) - count + 1)
                touched = words[first : first + count]
                touched *= _FACTOR
                touched += self._fresh(_mix(state, position), count)

    def _fresh(self, value: int, count: int) -> Words:
        """Words that depend on the value and on their positions."""
        words = self.keys[:count] * np.uint64(_mix(value, count) | 1)
        words ^= words >> np.uint64(31)
        words *= _FACTOR
        return words


def _differing(expected: Words, actual: Words) -> int:
    return int(np.count_nonzero(expected != actual))


def _mix(left: int, right: int) -> int:
    """Two integers as one of 64 bits: the finaliser of SplitMix64."""
    value = (left * 0x9E37_79B9_7F4A_7C15 + right + 1) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58_476D_1CE4_E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D0_49BB_1331_11EB) & _MASK
    return value ^ (value >> 31)
