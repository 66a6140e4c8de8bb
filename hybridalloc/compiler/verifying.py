"""Verifying: what the compiler has made of a plan, beside what was planned."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from hybridalloc.errors import CompilerError
from hybridalloc.memory_map import MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Program
from hybridalloc.simulator import Simulator
from hybridalloc.stays import issue_points
from hybridalloc.understanding.serving import Serving


@dataclass(frozen=True, slots=True)
class Span:
    """One stay, as XLA knows it: offsets are not part of a plan."""

    start: int
    ready: int
    """The first instruction that it serves, if it is prefetched."""
    end: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A stay that was planned and is not there as planned, or the other way round."""

    buffer: str
    planned: Span | None
    realised: Span | None
    reason: str


@dataclass(frozen=True, slots=True)
class Verification:
    """How far the compiler has carried out a plan."""

    allocations: int
    """How many were planned."""
    exact: int
    """How many of them are there: buffer, start, first use and end."""
    planned_bytes: float
    """Read and written in fast memory in one run, as planned."""
    realised_bytes: float
    """Those of them that are."""
    planned_s: float
    """Simulated seconds of one run, under the problem's cost model."""
    realised_s: float
    default_s: float | None
    """Of the compiler's own answer, where the input carries it."""
    differences: tuple[Difference, ...]

    @property
    def exact_share(self) -> float:
        """Of the planned allocations, 1 if there are none."""
        return self.exact / self.allocations if self.allocations else 1.0

    @property
    def bytes_share(self) -> float:
        """Of the planned traffic in fast memory, 1 if there is none."""
        return self.realised_bytes / self.planned_bytes if self.planned_bytes else 1.0


def verify_plan(
    problem: Problem, planned: MemoryMap, recompiled: Problem
) -> Verification:
    """Compare what was planned with what a compile under the plan's settings made.

    Args:
        problem: What the map is for.
        planned: An expressible map.
        recompiled: The workload that the compiler wrote, with its own answer.

    Raises:
        CompilerError: That is another program, or has no answer.
    """
    realised = recompiled.compiler_map
    _require_same(problem.program, recompiled.program)
    if realised is None:
        raise CompilerError(
            f"{recompiled.program.name}: expected the compiler's answer in what it "
            f"dumped, and there is none"
        )
    program = problem.program
    wanted, found = _spans(program, planned), _spans(program, realised)
    exact = sum(len(wanted[buffer] & found.get(buffer, set())) for buffer in wanted)
    simulator = Simulator(problem)
    planned_run, realised_run = map(simulator.simulate, (planned, realised))
    own = problem.compiler_map
    return Verification(
        allocations=len(planned),
        exact=exact,
        planned_bytes=_traffic(problem, planned),
        realised_bytes=_traffic(problem, planned, realised),
        planned_s=planned_run.time_s,
        realised_s=realised_run.time_s,
        default_s=None if own is None else simulator.simulate(own).time_s,
        differences=tuple(_differences(program, wanted, found)),
    )


def _require_same(program: Program, other: Program) -> None:
    pairs = zip(program.instructions, other.instructions, strict=False)
    for t, (one, another) in enumerate(pairs):
        if (one.name, one.accesses) != (another.name, another.accesses):
            raise CompilerError(
                f"instruction {t} is {another.name} when compiled again, expected "
                f"{one.name}: the map is for another program"
            )
    if len(program) != len(other):
        raise CompilerError(
            f"{len(other)} instructions when compiled again, expected {len(program)}: "
            f"the map is for another program"
        )


def _spans(program: Program, memory_map: MemoryMap) -> dict[int, set[Span]]:
    """The stays of each buffer.

    Issue points that differ by instructions that do nothing are the same. Where a value
    is dead until it is written anew, XLA gives up its place in between; such pieces
    are one stay.
    """
    points = issue_points(program)
    spans: dict[int, list[Span]] = defaultdict(list)
    for x in sorted(memory_map.allocations, key=lambda x: x.start):
        start, before = x.start, spans[x.buffer]
        if x.origin is Origin.PREFETCHED:
            start = points[max(0, bisect(points, start) - 1)]
        if before and x.origin is Origin.PRODUCED:
            until = before[-1].end
            if not any(until <= u.instruction < start for u in program.uses[x.buffer]):
                before[-1] = Span(before[-1].start, before[-1].ready, x.end)
                continue
        before.append(Span(start, x.ready, x.end))
    return {buffer: set(found) for buffer, found in spans.items()}


def _traffic(problem: Problem, *maps: MemoryMap) -> float:
    """Bytes that all of the maps serve from fast memory, in one run."""
    fast = [Serving(problem, x).fast for x in maps]
    program = problem.program
    return sum(
        program.multiplicity[t] * (access.read_bytes + access.write_bytes)
        for t, instruction in enumerate(program.instructions)
        for access in instruction.accesses
        if all(access.buffer in each[t] for each in fast)
    )


def _differences(
    program: Program, wanted: dict[int, set[Span]], found: dict[int, set[Span]]
) -> Iterator[Difference]:
    """Buffer by buffer; a planned stay beside what came of it."""
    for buffer in sorted({*wanted, *found}):
        name = program.buffers[buffer].name
        planned, realised = wanted.get(buffer, set()), found.get(buffer, set())
        missing = sorted(planned - realised, key=lambda x: x.start)
        extra = sorted(realised - planned, key=lambda x: x.start)
        for one in missing:
            other = extra.pop(0) if extra else None
            yield Difference(name, one, other, _reason(one, other))
        for other in extra:
            yield Difference(name, None, other, _reason(None, other))


def _reason(planned: Span | None, realised: Span | None) -> str:
    """The likely reason for a difference, from what the compiler is known to do."""
    if planned is None:
        return "placed though not planned: the compiler's fuel counts other buffers"
    if realised is None:
        return "not placed: no room was left when its turn came"
    if realised.end < planned.end:
        return "ended early: its place was taken, and it was evicted or fetched again"
    if realised.ready > planned.ready:
        return "fetched for a later use: no room was left at the first"
    if realised.start != planned.start:
        return "issued at another point: the planned one is outside what XLA allows"
    return "ends later than planned"
