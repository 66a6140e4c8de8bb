"""Buffer after buffer: retries, repacking, and what is not worth its copies."""

from __future__ import annotations

from collections.abc import Iterable

from hybridalloc.allocating import in_queue_order
from hybridalloc.baselines.moves import until_expired
from hybridalloc.baselines.msa.assignment import Assignment, Failure
from hybridalloc.baselines.msa.attempt import Attempt
from hybridalloc.baselines.msa.boundedness import in_order
from hybridalloc.baselines.msa.copy_resource import CopyResource
from hybridalloc.baselines.msa.cross_program import prefetch_across_programs
from hybridalloc.baselines.msa.heap import Heap
from hybridalloc.baselines.msa.interval_picker import IntervalPicker
from hybridalloc.baselines.msa.lifetimes import Lifetimes
from hybridalloc.baselines.msa.options import MsaOptions
from hybridalloc.baselines.msa.piece import Piece
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.solver import Run


class Assigner:
    """Assigns the buffers of a program.

    Source: openxla/xla, ``MsaAlgorithm::Finish`` in
    ``memory_space_assignment/algorithm.cc``.
    """

    def __init__(self, problem: Problem, loops: Loops, options: MsaOptions) -> None:
        picker, engine = (
            IntervalPicker(problem, loops, options),
            problem.target.copy_engine,
        )
        prefetches, evictions = (
            CopyResource(picker.elapsed, most, wanted)
            for most, wanted in (
                (engine.max_outstanding_prefetches, options.max_outstanding_prefetches),
                (engine.max_outstanding_evictions, options.max_outstanding_evictions),
            )
        )
        self._shared = Assignment(
            problem=problem,
            loops=loops,
            lifetimes=Lifetimes(problem.program, loops),
            options=options,
            picker=picker,
            heap=Heap(problem),
            prefetches=prefetches,
            evictions=evictions,
        )
        self._repacks_left = options.max_repacks
        self._assigned: list[int] = []
        """The numbers of the pieces that stay."""

    def take(self, allocations: Iterable[Allocation]) -> None:
        """Take in allocations that stay as they are, but for their offsets."""
        shared = self._shared
        for allocation in allocations:
            piece = Piece.of(allocation)
            size = shared.problem.program.buffers[piece.buffer].size
            seconds = shared.picker.copy_s(size)
            if piece.prefetched:
                shared.prefetches.add((piece.start - 1, piece.ready, seconds))
            if piece.eviction:
                copy = (piece.eviction.issue - 1, piece.eviction.due, seconds)
                shared.evictions.add(copy)
            self._assigned.append(shared.heap.put(piece))

    def assign(self, run: Run) -> None:
        """Assign all buffers, or as many as time allows."""
        shared = self._shared
        crossing = prefetch_across_programs(shared)
        self._assigned += crossing
        done = {shared.heap.pieces[number].buffer for number in crossing}
        buffers = in_order(
            shared.problem, shared.loops, shared.lifetimes, shared.options, run
        )
        for buffer in until_expired(run, buffers):
            if buffer not in done:
                self._allocate(buffer)

    def memory_map(self) -> MemoryMap:
        """What has been assigned so far."""
        points, pieces = len(self._shared.problem.program), self._shared.heap.pieces
        return MemoryMap(
            in_queue_order(
                allocation
                for number in self._assigned
                for allocation in pieces[number].allocations(points)
            )
        )

    def _allocate(self, buffer: int) -> None:
        """Assign a buffer; what is not worth its copies is undone, and left out."""
        slow: frozenset[int] = frozenset()
        while attempt := self._try(buffer, slow):
            inefficient = self._inefficient(attempt)
            if not inefficient:
                self._assigned += attempt.numbers
                return
            attempt.undo()
            slow |= inefficient

    def _try(self, buffer: int, slow: frozenset[int]) -> Attempt | None:
        """Assign a buffer, if need be with longer evictions or other offsets."""
        retries, repacked, retry = self._shared.options.max_retries, False, 0
        while retry < retries:
            attempt = Attempt(self._shared, buffer, retry, slow)
            done, is_last = attempt.succeeds(), retry == retries - 1
            if not done or (Failure.OUT_OF_COPIES in attempt.failures and not is_last):
                attempt.undo()
                retry += 1
                continue
            is_full = Failure.OUT_OF_MEMORY in attempt.failures
            if not is_full or repacked or not self._repacks_left:
                return attempt
            attempt.undo()
            repacked = True
            self._repacks_left -= 1
            if not self._shared.heap.repack():
                retry += 1
        return None

    def _inefficient(self, attempt: Attempt) -> frozenset[int]:
        """The accesses served by pieces that move too little for what is copied."""
        ratio = self._shared.options.inefficient_use_to_copy_ratio
        program = self._shared.problem.program
        found: set[int] = set()
        for piece in attempt.pieces():
            copies = piece.prefetched + (piece.eviction is not None)
            copied = copies * program.buffers[piece.buffer].size
            if self._moved(piece) < ratio * copied:
                found.update(range(piece.first, piece.last + 1))
        return frozenset(found)

    def _moved(self, piece: Piece) -> int:
        """Bytes that its accesses move, in loops as often as XLA takes them to run."""
        shared, moved = self._shared, 0
        uses = shared.problem.program.uses[piece.buffer]
        for use in uses[piece.first : piece.last + 1]:
            runs = shared.options.runs(len(shared.loops.around(use.instruction)))
            moved += runs * (use.access.read_bytes + use.access.write_bytes)
        return moved
