"""The input that the previous run of the program leaves in fast memory."""

from __future__ import annotations

from hybridalloc.baselines.msa.assignment import Assignment
from hybridalloc.baselines.msa.piece import Piece
from hybridalloc.pins import free

LARGEST_OCCUPIED = 0.6
"""A place that is in use for a larger share of the run is not given up."""


def prefetch_across_programs(shared: Assignment) -> list[int]:
    """Place the largest weights before all else; the numbers of the pieces.

    Source: openxla/xla, ``AllocateCrossProgramPrefetchCandidate`` in
    ``memory_space_assignment/algorithm.cc``.
    """
    count = min(
        shared.options.max_cross_program_prefetches,
        shared.problem.target.cross_program_prefetches,
    )
    found = []
    for buffer in _candidates(shared)[:count]:
        size = shared.problem.program.buffers[buffer].size
        used = shared.problem.program.uses[buffer][-1].instruction
        last = shared.loops.after(used, None) - 1
        whole_run = len(shared.problem.program) - 1
        offset = shared.heap.best_fit(buffer, [(size, 0)], [whole_run])
        if offset is not None:
            tail = _tail(shared, size, last)
            piece = Piece(buffer, offset, 0, last, crosses=True, tail=tail)
            found.append(shared.heap.put(piece))
    return found


def _candidates(shared: Assignment) -> list[int]:
    """The inputs that stay the same from run to run, the largest first."""
    program, found = shared.problem.program, []
    for index in free(shared.problem):
        buffer, uses = program.buffers[index], program.uses[index]
        constant = buffer.is_input and buffer.cross_program and not buffer.is_output
        if constant and not any(x.access.writes for x in uses):
            found.append((-buffer.size, uses[-1].instruction, index))
    return [index for _, _, index in sorted(found)]


def _tail(shared: Assignment, size: int, last: int) -> int:
    """The point at which it is fetched for the next run; -1 if it stays instead.

    XLA issues this copy before the instruction that it picked, not after it.
    """
    picker, end = shared.picker, len(shared.problem.program) - 1
    latest = picker.latest_start(size, last, end, None, saved=0.0)
    buffers = shared.problem.program.buffers
    at_stake = sum(buffers[index].size for index in free(shared.problem))
    pressing = at_stake > shared.problem.target.capacity
    freeing = shared.options.enable_cross_program_prefetch_freeing
    if not (freeing and pressing and latest > last):
        return -1
    start = picker.preferred_start(size, last, latest, end)
    occupied = picker.interval(-1, last) + picker.interval(start, end)
    whole = picker.interval(-1, end)
    return start if start > last and occupied < LARGEST_OCCUPIED * whole else -1
