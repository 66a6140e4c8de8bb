"""The schedule of a module, flattened through the computations that it calls.

As XLA's HloSchedule does: a while loop's condition and body stand before the while
instruction itself, every branch of a conditional once, the computation of a call or
of an asynchronous start before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hybridalloc.io.hlo.module import Computation, HloInstruction, HloModule
from hybridalloc.io.hlo.parser import HloSyntaxError
from hybridalloc.io.hlo.trip_count import trip_count
from hybridalloc.program import Loop

UNKNOWN_TRIP_COUNT = 5
"""What XLA assumes of a loop whose trip count it does not know."""

MAX_STEPS = 10_000_000
"""A module that calls itself over and over can grow without bound."""


@dataclass(frozen=True, eq=False, repr=False)
class Frame:
    """One appearance of a computation in the schedule."""

    computation: Computation
    time: dict[HloInstruction, int] = field(default_factory=dict)
    """The step of each of its instructions."""


@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """One instruction at its place in the flattened schedule."""

    instruction: HloInstruction
    frame: Frame
    called: tuple[Frame, ...] = ()
    """Frames of the computations it calls: condition and body of a while."""
    asynchronous: bool = False
    """Whether it runs beside the schedule, within an asynchronous computation."""

    @property
    def operand_times(self) -> Iterator[int]:
        """The steps of its operands, in order."""
        return (self.frame.time[operand] for operand in self.instruction.operands)

    @property
    def is_root(self) -> bool:
        """Whether its value is what its computation returns."""
        return self.frame.computation.root is self.instruction


@dataclass(frozen=True, eq=False, repr=False)
class Schedule:
    """A flattened schedule with its loops."""

    steps: tuple[Step, ...]
    entry: Frame
    loops: tuple[Loop, ...]
    """By start, outer loops first."""


def flatten(module: HloModule) -> Schedule:
    """Flatten a module's schedule.

    Raises:
        HloSyntaxError: The schedule would exceed ``MAX_STEPS``.
    """
    flattener = _Flattener(module)
    entry = flattener.add(module.entry, asynchronous=False)
    loops = sorted(flattener.loops, key=lambda loop: (loop.start, -loop.end))
    return Schedule(tuple(flattener.steps), entry, tuple(loops))


class _Flattener:
    def __init__(self, module: HloModule) -> None:
        self.module = module
        self.steps: list[Step] = []
        self.loops: list[Loop] = []

    def add(self, computation: Computation, *, asynchronous: bool) -> Frame:
        frame = Frame(computation)
        for instruction in computation.instructions:
            called = self._add_called(instruction, asynchronous)
            frame.time[instruction] = len(self.steps)
            self.steps.append(Step(instruction, frame, called, asynchronous))
            if len(self.steps) > MAX_STEPS:
                raise HloSyntaxError(
                    instruction.line, f"the schedule exceeds {MAX_STEPS} instructions"
                )
        return frame

    def _add_called(
        self, instruction: HloInstruction, asynchronous: bool
    ) -> tuple[Frame, ...]:
        names = called_computations(instruction)
        if not names:
            return ()
        start, called = len(self.steps), []
        is_async = asynchronous or instruction.opcode.endswith("-start")
        for name in names:
            computation = self.module.computations[name]
            called.append(self.add(computation, asynchronous=is_async))
        if instruction.opcode == "while":
            count = trip_count(self.module, instruction)
            trips = UNKNOWN_TRIP_COUNT if count is None else count
            self.loops.append(Loop(start, len(self.steps), trips))
        return tuple(called)


def called_computations(instruction: HloInstruction) -> list[str]:
    """The computations that run as part of the schedule when it is reached."""
    match instruction.opcode:
        case "while":
            return instruction.called("condition", "body")
        case "conditional":
            return instruction.called(
                "branch_computations", "true_computation", "false_computation"
            )
        case "call" | "call-start":
            return instruction.called("to_apply", "calls")
        case "async-start":
            return instruction.called("calls")
        case _:
            return []
