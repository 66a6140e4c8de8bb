"""What an input holds: its sizes, what it costs, and the compiler's own answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hybridalloc.checker import check
from hybridalloc.io.read import Input, read_input
from hybridalloc.io.xla.fidelity import fidelity, reads_despite_copy
from hybridalloc.liveness import live_bytes
from hybridalloc.problem import CostModel
from hybridalloc.simulator import Simulator
from hybridalloc.target import Target


@dataclass(frozen=True, slots=True)
class Info:
    """A description of an input; bytes and simulated seconds.

    The figures about the compiler's answer are ``None`` where the input carries none,
    those about its dump (the last four) where it is not a workload folder with one.
    """

    input: str
    target: str
    cost_model: str
    capacity_bytes: int
    instructions: int
    buffers: int
    accesses: int
    loops: int
    input_bytes: int
    """All inputs and constants."""
    temp_bytes: int
    """Everything else."""
    peak_live_bytes: int
    """The most that is live at one time, as ``live_bytes`` defines it."""
    slow_s: float
    """Everything in slow memory."""
    fast_s: float
    """Everything in fast memory, without copies."""
    xla_s: float | None
    xla_valid: bool | None
    """Whether the checker accepts the compiler's answer."""
    xla_peak_bytes: int | None
    xla_slow_reads: int | None
    """Operands that the compiler reads from slow memory although a copy of them is
    ready in fast memory; the simulator counts them as fast."""
    bufferinfo_rows: int | None
    bufferinfo_matched: int | None
    benefit_rows: int | None
    benefit_within_1pct: int | None


def describe(
    path: Path | str,
    *,
    target: Target | str | None = None,
    cost_model: CostModel | str | None = None,
    capacity: int | None = None,
) -> Info:
    """Describe an input.

    Args:
        path: Whatever ``read_problem`` reads.
        target: As for ``read_problem``.
        cost_model: As for ``read_problem``.
        capacity: As for ``read_problem``.

    Raises:
        InputError: The input cannot be read.
        UsageError: The target is unknown, or its capacity must be given.
    """
    found = read_input(path, target=target, cost_model=cost_model, capacity=capacity)
    problem, program = found.problem, found.problem.program
    simulator = Simulator(problem)
    answer = problem.compiler_map
    agreement = fidelity(found.dump, problem.target) if found.dump else None
    inputs = sum(buffer.size for buffer in program.buffers if buffer.is_input)
    return Info(
        input=str(path),
        target=problem.target.name,
        cost_model=problem.cost_model.value,
        capacity_bytes=problem.target.capacity,
        instructions=len(program),
        buffers=len(program.buffers),
        accesses=sum(len(i.accesses) for i in program.instructions),
        loops=len(program.loops),
        input_bytes=inputs,
        temp_bytes=sum(buffer.size for buffer in program.buffers) - inputs,
        peak_live_bytes=int(live_bytes(program).max()),
        slow_s=simulator.slow_s,
        fast_s=simulator.fast_s,
        xla_s=simulator.simulate(answer).time_s if answer else None,
        xla_valid=not check(problem, answer) if answer else None,
        xla_peak_bytes=answer.peak_bytes(program) if answer else None,
        xla_slow_reads=_slow_reads(found),
        bufferinfo_rows=agreement.bufferinfo_rows if agreement else None,
        bufferinfo_matched=agreement.bufferinfo_matched if agreement else None,
        benefit_rows=agreement.benefit_rows if agreement else None,
        benefit_within_1pct=agreement.benefit_within_1pct if agreement else None,
    )


def _slow_reads(found: Input) -> int | None:
    answer = found.problem.compiler_map
    if found.dump is None or found.dump.after is None or answer is None:
        return None
    return reads_despite_copy(found.dump.after, answer)[0]
