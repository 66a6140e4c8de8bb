"""Traces of runs, in the JSON format that Perfetto and Chrome read.

Each map is a process: its instructions and stalls are one thread, and each copy queue
is one, on which a copy lasts for as long as the engine works on it. A counter has the
bytes that allocations hold. Trips of a loop that only repeat one before are one event.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hybridalloc.io.files import write_text
from hybridalloc.memory_map import MemoryMap
from hybridalloc.packing.occupancy import held_bytes
from hybridalloc.problem import Problem
from hybridalloc.report.picture import names_beside, require_drawable
from hybridalloc.report.words import printable
from hybridalloc.simulator import Simulator
from hybridalloc.simulator.course import Activity, Course, Span, Transfer
from hybridalloc.understanding.serving import Serving

Event = dict[str, Any]
RUNNING, PREFETCHES, EVICTIONS = range(1, 4)
THREADS = {RUNNING: "instructions", PREFETCHES: "prefetches", EVICTIONS: "evictions"}


def write_trace(
    problem: Problem,
    memory_map: MemoryMap,
    path: Path | str,
    *,
    beside: MemoryMap | None = None,
    labels: tuple[str, str] = ("", ""),
) -> None:
    """Write one run under a map as a trace; its times are those of the simulation.

    Args:
        problem: The program, the target and the cost model.
        memory_map: Any map whose offsets are given.
        path: The file.
        beside: Another map, as a second process.
        labels: What the two are called, besides A and B.

    Raises:
        UsageError: An allocation lacks its offset or its buffer, or times are not
            finite.
        InputError: The file cannot be written.
    """
    simulator = Simulator(problem)
    simulator.require_finite()
    maps = [memory_map] if beside is None else [memory_map, beside]
    for drawn in maps:
        require_drawable(problem.program, drawn)
    alone = (problem.program.name,)
    names = alone if beside is None else names_beside(labels)
    events = [
        {**event, "pid": process}
        for process, drawn in enumerate(maps, start=1)
        for event in _events(simulator, drawn, names[process - 1])
    ]
    trace = {"displayTimeUnit": "ns", "traceEvents": events}
    write_text(path, json.dumps(trace, allow_nan=False))


def _events(simulator: Simulator, memory_map: MemoryMap, label: str) -> Iterator[Event]:
    serving = Serving(simulator.problem, memory_map)
    course = simulator.play(memory_map, serving.run_times())
    yield _named("process_name", RUNNING, label)
    for thread, name in THREADS.items():
        yield _named("thread_name", thread, name)
    for span in course.spans:
        yield _span(serving, span)
    for transfer in course.transfers:
        yield _transfer(simulator.problem, memory_map, transfer)
    yield from _occupancy(simulator.problem, memory_map, course)


def _named(what: str, thread: int, name: str) -> Event:
    return {"ph": "M", "name": what, "tid": thread, "args": {"name": printable(name)}}


def _span(serving: Serving, span: Span) -> Event:
    program = serving.problem.program
    if span.activity is Activity.REPEAT:
        loop = program.loops[span.index]
        name = f"{span.trips:,} more trips of the loop [{loop.start}, {loop.end})"
        return _lasting(RUNNING, "loop", name, span.start_s, span.end_s)
    if span.activity is Activity.STALL:
        name = f"stall before {_step_name(serving.problem, span.index)}"
        return _lasting(RUNNING, "stall", name, span.start_s, span.end_s)
    buffers = program.buffers
    fast = sorted(serving.fast[span.index])
    return _lasting(
        *(RUNNING, "instruction", program.instructions[span.index].name),
        *(span.start_s, span.end_s),
        instruction=span.index,
        runs=program.multiplicity[span.index],
        compute_us=1e6 * program.instructions[span.index].compute_s,
        fast=[printable(buffers[i].name) for i in fast],
    )


def _step_name(problem: Problem, point: int) -> str:
    steps = problem.program.instructions
    return steps[point].name if point < len(steps) else "the end"


def _transfer(problem: Problem, memory_map: MemoryMap, transfer: Transfer) -> Event:
    allocation = memory_map.allocations[transfer.allocation]
    thread = (PREFETCHES, EVICTIONS)[transfer.queue]
    return _lasting(
        *(thread, "copy", problem.program.buffers[allocation.buffer].name),
        *(transfer.start_s, transfer.end_s),
        bytes=transfer.size,
        offset=allocation.offset,
        waited_us=1e6 * (transfer.start_s - transfer.issued_s),
    )


def _occupancy(
    problem: Problem, memory_map: MemoryMap, course: Course
) -> Iterator[Event]:
    """The bytes that are held, wherever they change."""
    held = held_bytes(problem.program, memory_map).tolist()
    last = None
    moments: Sequence[tuple[float, int]] = [
        (span.start_s, held[span.index])
        for span in course.spans
        if span.activity is Activity.RUN
    ]
    for seconds, size in [*moments, (course.time_s, 0)]:
        if size != last:
            yield {
                "ph": "C",
                "name": "held in fast memory",
                "ts": _nanoseconds(seconds) / 1000,
                "args": {"bytes": size},
            }
        last = size


def _lasting(
    thread: int, kind: str, name: str, start_s: float, end_s: float, **args: Any
) -> Event:
    start, end = _nanoseconds(start_s), _nanoseconds(end_s)
    return {
        "ph": "X",
        "tid": thread,
        "cat": kind,
        "name": printable(name),
        "ts": start / 1000,
        "dur": (end - start) / 1000,
        "args": args,
    }


def _nanoseconds(seconds: float) -> int:
    """Whole ones, so that what follows one another does not overlap by rounding."""
    return round(seconds * 1e9)
