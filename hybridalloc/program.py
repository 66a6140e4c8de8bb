"""The program: a fixed sequence of instructions that read and write buffers.

Everything here is plain data, frozen and checked at birth (docs/model.md).
Sizes and amounts of traffic are bytes, times are seconds, and a point in time is
an index into the schedule.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

MAX_BYTES = 2**53
"""Sizes stay below this, so that float64 holds every one of them exactly."""


MAX_TRIPS = 2**53
"""Trip counts stay below this, for the same reason."""


class Memory(StrEnum):
    """Where a buffer may be: in either memory, or pinned to one."""

    ANY = "any"
    FAST = "fast"
    SLOW = "slow"


@dataclass(frozen=True, slots=True)
class Loop:
    """Instructions that repeat: the half-open range [start, end) of the schedule."""

    start: int
    end: int
    trip_count: int
    """How often the range runs each time that it is reached."""

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(
                f"loop: expected 0 <= start < end, got start {self.start}, "
                f"end {self.end}"
            )
        if not 0 <= self.trip_count < MAX_TRIPS:
            raise ValueError(
                f"loop: trip_count {self.trip_count} is not in [0, {MAX_TRIPS})"
            )

    def encloses(self, other: Loop) -> bool:
        """Whether the other loop lies within this one."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class Access:
    """What one instruction does with one buffer."""

    buffer: int
    """Index into ``Program.buffers``."""
    read_bytes: int = 0
    """Bytes read; may exceed the buffer's size where it is read more than once."""
    write_bytes: int = 0
    """Bytes written."""
    whole: bool = False
    """Whether it overwrites every byte of the buffer and reads none."""

    def __post_init__(self) -> None:
        for name, value in (("read", self.read_bytes), ("write", self.write_bytes)):
            if not 0 <= value < MAX_BYTES:
                raise ValueError(
                    f"access to buffer {self.buffer}: {name}_bytes {value} is not in "
                    f"[0, {MAX_BYTES})"
                )
        if self.whole and self.read_bytes:
            raise ValueError(
                f"access to buffer {self.buffer}: whole, yet read_bytes is "
                f"{self.read_bytes} (expected 0)"
            )

    @property
    def writes(self) -> bool:
        """Whether the access changes the buffer."""
        return self.whole or self.write_bytes > 0


@dataclass(frozen=True, slots=True)
class Observation:
    """A compiler's estimate of an instruction at one placement of its buffers."""

    fast: tuple[int, ...]
    """The buffers that were in fast memory, as sorted indices."""
    cycles: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.cycles) and self.cycles >= 0):
            raise ValueError(f"observation: cycles {self.cycles} is not >= 0")
        if list(self.fast) != sorted(set(self.fast)):
            raise ValueError(f"observation: fast {self.fast} is not sorted and unique")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step of the schedule."""

    name: str
    compute_s: float = 0.0
    """Seconds of computation, were memory infinitely fast: ``C(t)``."""
    accesses: tuple[Access, ...] = ()
    """Operands in order, then outputs; one for each buffer."""
    scratch_bytes: int = 0
    """Fast memory, from offset 0, that the instruction needs while it runs."""
    observations: tuple[Observation, ...] = ()
    """Estimates for the ``cycles`` model; the first with no buffer in fast memory
    is ``h``, the first with some is ``m``."""
    kind: str = ""
    """What it does, for the ``learned`` model: of HLO the opcode, and of a fusion its
    kind and heaviest opcode, such as ``loop-fusion/reduce``; nothing if unknown."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.compute_s) and self.compute_s >= 0):
            raise ValueError(f"{self.name}: compute_s {self.compute_s} is not >= 0")
        if not 0 <= self.scratch_bytes < MAX_BYTES:
            raise ValueError(
                f"{self.name}: scratch_bytes {self.scratch_bytes} is not in "
                f"[0, {MAX_BYTES})"
            )
        buffers = [access.buffer for access in self.accesses]
        if len(buffers) != len(set(buffers)):
            raise ValueError(f"{self.name}: two accesses to one buffer in {buffers}")


@dataclass(frozen=True, slots=True)
class Buffer:
    """Storage that one or more values of the program share."""

    name: str
    """Unique within the program."""
    size: int
    """Bytes, with all padding."""
    is_input: bool = False
    """Whether its slow copy is valid before the program starts."""
    is_output: bool = False
    """Whether its slow copy must be valid after the program ends."""
    cross_program: bool = True
    """Whether, if it is an input, solvers may choose it for the cross-program prefetch:
    its content is the same in every run."""
    memory: Memory = Memory.ANY
    """``SLOW``: never in fast memory. ``FAST``: each access from fast memory."""
    offset: int | None = None
    """The only offset that its allocations may have, if fixed."""

    def __post_init__(self) -> None:
        if not 0 <= self.size < MAX_BYTES:
            raise ValueError(
                f"buffer {self.name}: size {self.size} is not in [0, {MAX_BYTES})"
            )
        if self.offset is not None and self.offset < 0:
            raise ValueError(f"buffer {self.name}: offset {self.offset} is negative")


@dataclass(frozen=True, slots=True)
class Use:
    """An access together with the point at which it happens."""

    instruction: int
    access: Access


@dataclass(frozen=True)
class Program:
    """Instructions in scheduled order, the buffers they touch, and their loops."""

    name: str
    instructions: tuple[Instruction, ...]
    buffers: tuple[Buffer, ...]
    loops: tuple[Loop, ...] = field(default=())
    """Sorted by start, outer loops before the ones within them."""

    def __post_init__(self) -> None:
        if not self.instructions:
            raise ValueError(f"program {self.name}: expected at least one instruction")
        self._check_names()
        self._check_accesses()
        self._check_loops()

    def __len__(self) -> int:
        return len(self.instructions)

    @cached_property
    def uses(self) -> tuple[tuple[Use, ...], ...]:
        """For each buffer, its accesses in schedule order."""
        uses: list[list[Use]] = [[] for _ in self.buffers]
        for t, instruction in enumerate(self.instructions):
            for access in instruction.accesses:
                uses[access.buffer].append(Use(t, access))
        return tuple(map(tuple, uses))

    @cached_property
    def multiplicity(self) -> tuple[int, ...]:
        """How often each instruction runs in one run of the program: ``k(t)``.

        >>> body = Instruction("body")
        >>> loops = Loop(0, 3, trip_count=4), Loop(1, 2, trip_count=10)
        >>> Program("nested", (body,) * 4, (), loops).multiplicity
        (4, 40, 4, 1)
        """
        counts = [1] * len(self)
        for loop in self.loops:
            for t in range(loop.start, loop.end):
                counts[t] *= loop.trip_count
        return tuple(counts)

    @cached_property
    def buffer_index(self) -> dict[str, int]:
        """The index of each buffer's name."""
        return {buffer.name: index for index, buffer in enumerate(self.buffers)}

    def _check_names(self) -> None:
        if len(self.buffer_index) < len(self.buffers):
            names = Counter(buffer.name for buffer in self.buffers)
            twice = names.most_common(1)[0][0]
            raise ValueError(f"program {self.name}: two buffers are called {twice!r}")

    def _check_accesses(self) -> None:
        defined = {i for i, buffer in enumerate(self.buffers) if buffer.is_input}
        for t, instruction in enumerate(self.instructions):
            where = f"instruction {t} ({instruction.name})"
            named = [access.buffer for access in instruction.accesses]
            named += [i for seen in instruction.observations for i in seen.fast]
            for index in named:
                if not 0 <= index < len(self.buffers):
                    raise ValueError(
                        f"{where}: buffer index {index} is not in "
                        f"[0, {len(self.buffers)})"
                    )
            for access in instruction.accesses:
                if not access.whole and access.buffer not in defined:
                    raise ValueError(
                        f"{where} uses buffer {self.buffers[access.buffer].name}, "
                        f"which no earlier instruction writes as a whole"
                    )
                defined.add(access.buffer)
        for index, buffer in enumerate(self.buffers):
            if buffer.is_output and index not in defined:
                raise ValueError(f"output buffer {buffer.name} is never written")

    def _check_loops(self) -> None:
        if list(self.loops) != sorted(self.loops, key=lambda x: (x.start, -x.end)):
            raise ValueError("loops: expected by start, outer loops first")
        enclosing: list[Loop] = []
        for loop in self.loops:
            if loop.end > len(self):
                raise ValueError(
                    f"loop [{loop.start}, {loop.end}) ends after the program's "
                    f"{len(self)} instructions"
                )
            while enclosing and enclosing[-1].end <= loop.start:
                enclosing.pop()
            if enclosing:
                outer = enclosing[-1]
                same = (outer.start, outer.end) == (loop.start, loop.end)
                if same or not outer.encloses(loop):
                    raise ValueError(
                        f"loops [{outer.start}, {outer.end}) and [{loop.start}, "
                        f"{loop.end}) neither nest nor stand apart"
                    )
            enclosing.append(loop)
