"""Every rule of docs/model.md, Time, on programs small enough to work out by hand.

The slow memory moves 1 byte a second and the fast one 10, so that a copy of n bytes is
n seconds of work. Unless it is said, instructions only compute: all of it is idle time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin, Slice
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Instruction, Loop, Program
from hybridalloc.simulator import Simulation, Simulator, simulate
from hybridalloc.target import CopyEngine, MemorySpace, Target

TARGET = Target(
    name="round",
    spaces=(MemorySpace("fast", 10, 10, 1000), MemorySpace("slow", 1, 1)),
    flops_per_second=1.0,
    clock_hz=1.0,
)


def problem(
    compute: Sequence[float],
    sizes: Sequence[int] = (),
    loops: tuple[Loop, ...] = (),
    reads: dict[int, int] | None = None,
    target: Target = TARGET,
) -> Problem:
    """Input buffers of these sizes; ``reads`` says what instruction t reads of b0."""
    buffers = tuple(
        Buffer(f"b{i}", size, is_input=True) for i, size in enumerate(sizes)
    )
    read = {t: (Access(0, read_bytes=amount),) for t, amount in (reads or {}).items()}
    instructions = tuple(
        Instruction(f"i{t}", seconds, read.get(t, ()))
        for t, seconds in enumerate(compute)
    )
    return Problem(Program("tiny", instructions, buffers, loops), target)


def prefetch(
    buffer: int, start: int, ready: int, slices: tuple[Slice, ...] = ()
) -> Allocation:
    """A prefetch, held for one instruction."""
    return Allocation(buffer, 0, start, ready + 1, Origin.PREFETCHED, ready, slices)


def evict(buffer: int, issue: int, due: int) -> Allocation:
    """An eviction of an allocation that has no other copy."""
    return Allocation(
        buffer, 0, issue - 1, max(due, issue), eviction=Eviction(issue, due)
    )


def run(given: Problem, *allocations: Allocation) -> Simulation:
    """One simulation."""
    return simulate(given, MemoryMap(allocations))


def stall(given: Problem, *allocations: Allocation) -> float:
    """The stalls of one simulation."""
    return run(given, *allocations).stall_s


def test_a_copy_that_fits_into_idle_time_costs_nothing() -> None:
    assert run(problem([5, 7], [5]), prefetch(0, 0, 1)) == Simulation(12, 0, 5)


def test_what_is_left_of_a_copy_when_it_is_due_is_a_stall() -> None:
    # 9 s of work, 5 of them done under instruction 0.
    assert run(problem([5, 7], [9]), prefetch(0, 0, 1)) == Simulation(16, 4, 9)


def test_a_copy_that_is_due_where_it_is_issued_is_a_pure_stall() -> None:
    assert run(problem([5, 7], [9]), prefetch(0, 1, 1)) == Simulation(21, 9, 9)


def test_copies_wait_while_an_instruction_uses_slow_memory() -> None:
    # Instruction 0 takes max(5, 3) s, 3 of them slow traffic: 2 of 9 s are done.
    given = problem([5, 7], [9], reads={0: 3})
    assert run(given, prefetch(0, 0, 1)) == Simulation(19, 7, 9)


def test_accesses_are_served_from_fast_memory_from_ready_on() -> None:
    # Reads of 20 B: slow 20 s at 0, 1 and 3; fast 2 s at 2, where the copy (8 s) is
    # due. Nothing is idle before it, so that it stalls for 8 s.
    given = problem([0] * 4, [8], reads=dict.fromkeys(range(4), 20))
    assert run(given, prefetch(0, 1, 2)) == Simulation(20 + 20 + 8 + 2 + 20, 8, 8)


def test_an_access_is_served_fast_by_any_of_two_allocations() -> None:
    # Ready copies cover 0 and 1, then 1 and 2: 3 * 2 s; the fourth read takes 20 s.
    given = problem([0] * 4, [8], reads=dict.fromkeys(range(4), 20))
    first, second = Allocation(0, 0, 0, 2), Allocation(0, 8, 1, 3)
    assert run(given, first, second).time_s == pytest.approx(26)


def test_slow_and_fast_times_serve_everything_from_one_memory() -> None:
    # Slow: 2 * 20 + max(9, 20). Fast: 2 * 2 + max(9, 2).
    simulator = Simulator(problem([0, 9], [8], (Loop(0, 1, 2),), reads={0: 20, 1: 20}))
    assert simulator.slow_s == pytest.approx(60)
    assert simulator.fast_s == pytest.approx(13)


def test_copies_issued_at_one_point_queue_in_the_order_of_the_map() -> None:
    # b1 is due after 4 s. Behind b0 it needs 5 + 3 s, before it 3 s; then b0, due at
    # T after 4 + 0 s more, has 8 - 4 = 4 s left.
    given = problem([4, 0], [5, 3])
    late, soon = prefetch(0, 0, 2), prefetch(1, 0, 1)
    assert stall(given, late, soon) == pytest.approx(4)
    assert stall(given, soon, late) == pytest.approx(0 + 4)
    # With 1 s more under instruction 1, only the second order can use it.
    longer = problem([4, 1], [5, 3])
    assert stall(longer, late, soon) == pytest.approx(4)
    assert stall(longer, soon, late) == pytest.approx(3)


def test_the_queues_share_and_a_stall_lets_both_advance() -> None:
    # Under instruction 1 each of 6 and 6 s advances by 4. The 2 s left of the prefetch
    # take 4, in which the eviction ends too.
    given = problem([0, 8, 0], [6, 6])
    assert stall(given, prefetch(0, 1, 2), evict(1, 1, 2)) == pytest.approx(4)
    assert stall(given, prefetch(0, 1, 2), evict(1, 1, 3)) == pytest.approx(4)


def test_a_queue_left_alone_advances_at_full_speed() -> None:
    # 2 + 6 s: in 4 s both advance by 2, in 4 more the eviction by 4.
    given = problem([0, 8, 0], [2, 6])
    assert stall(given, prefetch(0, 1, 2), evict(1, 1, 2)) == pytest.approx(0)
    shorter = problem([0, 7, 0], [2, 6])
    assert stall(shorter, prefetch(0, 1, 2), evict(1, 1, 2)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("eviction", "expected"),
    [
        (3, 5 + 3),  # shared for 6 s, then 2 s alone; nothing is left
        (9, 5 + 5 + 4),  # shared for 10 s; the 4 s left are drained at T
    ],
)
def test_a_stall_for_one_queue_shares_with_the_other(
    eviction: int, expected: float
) -> None:
    given = problem([0, 0, 0], [5, eviction])
    assert stall(given, evict(1, 1, 3), prefetch(0, 1, 1)) == pytest.approx(expected)


def test_what_is_due_at_a_point_is_finished_before_new_copies_are_issued() -> None:
    # The prefetch has 10 - 4 = 6 s left at point 1; alone it needs just that. The
    # eviction then fits into instruction 1. Issued first it would make it 12.
    given = problem([4, 6, 0], [10, 6])
    assert stall(given, prefetch(0, 0, 1), evict(1, 1, 2)) == pytest.approx(6)


def test_a_copy_due_at_once_waits_for_all_before_it_in_its_queue() -> None:
    # 7 s issued earlier and 2 s done: 5 + 3.
    given = problem([2, 9], [7, 3])
    assert stall(given, prefetch(0, 0, 2), prefetch(1, 1, 1)) == pytest.approx(8)


def test_what_is_still_queued_at_the_end_is_drained() -> None:
    given = problem([0, 2, 1], [9])
    assert run(given, evict(0, 1, 3)) == Simulation(3 + 6, 6, 9)


def test_slices_are_copies_of_their_own() -> None:
    # At 0 the upper 6 B, of which 5 are done at 1. There the lower 4 B: 1 + 4 s, and
    # instruction 1 leaves 3 s: a stall of 2. In one piece from 1 on: 10 - 3 = 7.
    given = problem([5, 3, 0], [10])
    cut = prefetch(0, 0, 2, (Slice(4, issue=1), Slice(6, issue=0)))
    assert run(given, cut) == Simulation(10, 2, 10)
    assert stall(given, prefetch(0, 1, 2)) == pytest.approx(7)


def test_a_cross_program_prefetch_held_during_the_whole_run_needs_no_copy() -> None:
    given = problem([0, 0], [8], reads={0: 20, 1: 20})
    held = Allocation(0, 0, 0, 2, Origin.CROSS_PROGRAM)
    assert run(given, held) == Simulation(4, 0, 0)


def test_a_cross_program_prefetch_of_the_tail_is_drained_at_the_end() -> None:
    # Fast at 0 (2 s). The copy of 8 s is issued at 1, 5 s are done under instruction 1.
    given = problem([0, 5], [8], reads={0: 20})
    head = Allocation(0, 0, 0, 1, Origin.CROSS_PROGRAM)
    tail = Allocation(0, 0, 1, 2, Origin.CROSS_PROGRAM, ready=2)
    assert run(given, head, tail) == Simulation(2 + 5 + 3, 3, 8)


def test_every_copy_and_slice_takes_its_startup_time() -> None:
    target = Target("t", TARGET.spaces, 1.0, 1.0, CopyEngine(startup_s=0.5))
    given = problem([0, 0, 0], [4, 6], target=target)
    halves = (Slice(2, issue=1), Slice(2, issue=1))
    assert stall(given, prefetch(0, 1, 1)) == pytest.approx(4.5)
    assert stall(given, prefetch(0, 1, 1, halves)) == pytest.approx(5)
    assert stall(given, evict(1, 1, 1)) == pytest.approx(6.5)


def test_prefetches_read_and_evictions_write_the_slow_memory() -> None:
    slow = MemorySpace("slow", read_bandwidth=2, write_bandwidth=4)
    target = Target("t", (TARGET.fast, slow), 1.0, 1.0)
    given = problem([0, 0], [8], target=target)
    assert stall(given, prefetch(0, 1, 1)) == pytest.approx(4)
    assert stall(given, evict(0, 1, 1)) == pytest.approx(2)


def test_a_map_can_be_evaluated_from_its_arrays() -> None:
    given = problem([5, 7, 1], [9, 4])
    both = Allocation(
        1, 0, 0, 3, Origin.PREFETCHED, 1, (Slice(1, 0), Slice(3, 1)), Eviction(2, 3)
    )
    memory_map = MemoryMap((both, prefetch(0, 1, 2)))
    simulator = Simulator(given)
    arrays = simulator.encode(memory_map)
    assert [array.tolist() for array in arrays] == [
        [1, 0],  # buffer
        [1, 2],  # ready
        [3, 3],  # end
        [0, 0, 0, 1],  # copy_allocation
        [1, 3, 4, 9],  # copy_bytes
        [0, 0, 1, 0],  # copy_queue
        [0, 1, 2, 1],  # copy_issue
        [1, 1, 3, 2],  # copy_due
    ]
    # 1 s is done under 0; 3 s stall at 1; 7 of 9 s under 1, 2 s stall at 2; the
    # eviction takes instruction 2 and 3 s more.
    assert simulator.evaluate(arrays) == pytest.approx(13 + 3 + 2 + 3)
    assert simulator.simulate(memory_map).time_s == simulator.evaluate(arrays)
    arrays.copy_bytes[np.array([1, 3])] = 0
    assert simulator.evaluate(arrays) == pytest.approx(13 + 3)


@pytest.mark.parametrize(
    ("odd", "stalls"),
    [
        (Allocation(7, 0, 0, 2, Origin.PREFETCHED, 1), 0),  # no such buffer
        (Allocation(0, 0, 50, 90, Origin.PREFETCHED, 60), 9),  # as if issued at T
        (Allocation(0, 0, 0, 90, eviction=Eviction(60, 80)), 9),
    ],
)
def test_what_lies_beyond_the_program_counts_as_its_end(
    odd: Allocation, stalls: float
) -> None:
    assert stall(problem([5, 7], [9]), odd) == pytest.approx(stalls)
