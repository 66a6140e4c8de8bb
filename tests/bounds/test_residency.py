"""What one buffer may do: maps with loops that bounds must not beat, and by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from named_problems import DONATED, OUT, W, X, Y, problem, reads, updates, writes
from named_problems import target as small_target

from hybridalloc.bounds import lower_bound
from hybridalloc.checker import check
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Loop
from hybridalloc.simulator import simulate
from hybridalloc.target import CopyEngine


def assert_tight(given: Problem, memory_map: MemoryMap, seconds: float) -> None:
    """The map is valid and takes so long, and no valid map is faster: proven."""
    assert check(given, memory_map) == ()
    assert simulate(given, memory_map).time_s == pytest.approx(seconds)
    bound = lower_bound(given).seconds
    assert bound <= seconds
    assert bound == pytest.approx(seconds, rel=1e-6)


@pytest.mark.parametrize("compute_s", [8.0, 10.0, 12.0])
def test_an_eviction_in_each_iteration_may_hide_while_the_stay_goes_on(
    compute_s: float,
) -> None:
    # 20 s before the loop, three times 1 + 1 s and the computation. Each iteration
    # hides its own eviction of 8 s behind that, and the buffer stays for the next one.
    given = problem(
        (DONATED,),
        (),
        (updates(0),),
        (),
        compute={0: 20.0, 2: compute_s},
        loops=(Loop(1, 3, trip_count=3),),
    )
    stay = Allocation(0, 0, 0, 3, Origin.PREFETCHED, 1, eviction=Eviction(2, 3))
    assert_tight(given, MemoryMap((stay,)), 20 + 3 * (2 + compute_s))


@pytest.mark.parametrize("compute_s", [8.0, 10.0, 12.0])
def test_an_eviction_before_a_loop_may_be_of_use_at_the_end_of_the_loop(
    compute_s: float,
) -> None:
    # x is evicted at 1 behind the computation, and its stay goes on into the loop until
    # 3, which takes all of fast memory. It is fetched again behind the 8 s of 4.
    given = problem(
        (X,),
        (writes(0),),
        (),
        (reads(0),),
        (),
        (),
        (),
        compute={1: compute_s, 4: 8.0},
        scratch={3: 32},
        loops=(Loop(2, 5, trip_count=3),),
    )
    first = Allocation(0, 0, 0, 3, eviction=Eviction(1, 2))
    again = Allocation(0, 0, 4, 5, Origin.PREFETCHED, ready=5)
    # 2 s for the write, 2 s for each read: 3 * (2 + 8) + 2 + the computation.
    assert_tight(given, MemoryMap((first, again)), 32 + compute_s)


def test_instructions_that_never_run_do_not_end_a_stay() -> None:
    # Instruction 2 takes all of fast memory, but never runs: the first stay ends before
    # it and the next one is fetched after it, at no cost. That leaves 8 s for the first
    # fetch and 2 s for each read of 0 and 4; to read both from slow memory takes 16 s.
    given = problem(
        (W,),
        (reads(0),),
        (),
        (),
        (),
        (reads(0),),
        scratch={2: 32},
        loops=(Loop(1, 4, trip_count=0),),
        machine=small_target(cross_program_prefetches=0),
    )
    before = Allocation(0, 0, 0, 2, Origin.PREFETCHED, ready=0)
    after = Allocation(0, 0, 3, 5, Origin.PREFETCHED, ready=3)
    assert_tight(given, MemoryMap((before, after)), 12)
    # If it runs once the second fetch costs 8 s as well: slow memory is as good.
    once = replace(given.program, loops=(Loop(1, 4, trip_count=1),))
    assert_tight(replace(given, program=once), MemoryMap(), 16)


def test_what_is_fetched_before_a_loop_is_valid_in_slow_memory() -> None:
    # Nothing stays in fast memory during instruction 1. Written in slow memory in 8 s,
    # fetched in 8 s and read in three times 2 s; or written in 2 s, but evicted in 8 s.
    given = problem(
        (X,),
        (writes(0),),
        (),
        (reads(0),),
        scratch={1: 32},
        loops=(Loop(2, 3, trip_count=3),),
    )
    stay = Allocation(0, 0, 2, 3, Origin.PREFETCHED, ready=2)
    assert_tight(given, MemoryMap((stay,)), 8 + 8 + 6)


def test_a_copy_in_a_loop_takes_its_time_in_each_iteration() -> None:
    # Nothing stays in fast memory during instruction 1. Each of three iterations
    # fetches in 8 s what is read twice in 4 s; twice from slow memory takes 16 s.
    given = problem(
        (W,),
        (),
        (),
        (Access(0, read_bytes=16),),
        scratch={1: 32},
        loops=(Loop(1, 3, trip_count=3),),
    )
    stay = Allocation(0, 0, 2, 3, Origin.PREFETCHED, ready=2)
    assert_tight(given, MemoryMap((stay,)), 3 * (8 + 4))


def test_what_a_loop_finds_in_fast_memory_it_must_leave_there() -> None:
    # Nothing stays in fast memory during instruction 2, so what is fetched before the
    # loop is not there in the second iteration: 8 s in each of three. Fetched in each
    # one it takes 8 + 2 s.
    given = problem(
        (W,),
        (),
        (reads(0),),
        (),
        scratch={2: 32},
        loops=(Loop(1, 3, trip_count=3),),
    )
    assert_tight(given, MemoryMap(), 3 * 8)


def test_an_eviction_that_is_done_leaves_room() -> None:
    # x and y do not fit together. x is written in 2 s, evicted while instruction 1
    # computes for 8 s, and read from slow memory in 8 s; y takes 2 + 2 s between.
    given = problem(
        (X, Y),
        (writes(0),),
        (),
        (writes(1),),
        (reads(1),),
        (reads(0),),
        compute={1: 8.0},
        machine=small_target(8),
    )
    x = Allocation(0, 0, 0, 2, eviction=Eviction(1, 2))
    assert_tight(given, MemoryMap((x, Allocation(1, 0, 2, 4))), 2 + 8 + 2 + 2 + 8)


def test_a_prefetch_holds_nothing_before_it_starts() -> None:
    # y fills fast memory until instruction 2 has read 4 bytes of it: 1 + 1 s. Then w is
    # fetched, 27 of 32 s behind a computation, and read in 8 s. As far as the bound
    # knows the copy may run during instruction 2 as well, in its second of idle time.
    given = problem(
        (Buffer("w", 32, is_input=True), Buffer("y", 32)),
        (Access(1, write_bytes=4, whole=True),),
        (),
        (Access(1, read_bytes=4),),
        (),
        (Access(0, read_bytes=32),),
        compute={3: 27.0},
        machine=small_target(engine=CopyEngine(max_slices=1)),
    )
    given = replace(given, target=replace(given.target, cross_program_prefetches=0))
    w = Allocation(0, 0, 3, 5, Origin.PREFETCHED, ready=4)
    memory_map = MemoryMap((Allocation(1, 0, 0, 3), w))
    assert check(given, memory_map) == ()
    assert simulate(given, memory_map).time_s == 1 + 1 + 27 + 5 + 8
    assert 41 * (1 - 1e-6) <= lower_bound(given).seconds <= 42


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        # Each reads w before and after an instruction of 8 s.
        ("hidden", 8 + 8 + 2),  # fetched behind the computation
        ("no prefetches", 8 + 8 + 8),
        ("a cross-program prefetch", 2 + 8 + 2),
    ],
)
def test_an_input_is_fetched_where_it_may_be(name: str, seconds: float) -> None:
    engine = CopyEngine(max_outstanding_prefetches=int(name != "no prefetches"))
    prefetches = int(name == "a cross-program prefetch")
    machine = small_target(engine=engine, cross_program_prefetches=prefetches)
    steps = (reads(0),), (), (reads(0),)
    given = problem((W,), *steps, compute={1: 8.0}, machine=machine)
    assert lower_bound(given).seconds == pytest.approx(seconds, rel=1e-6)


def test_a_cross_program_prefetch_is_only_for_what_nobody_changes() -> None:
    # Fetched in 8 s and updated in 1 s, or updated in 4 + 4 s in slow memory.
    machine = small_target(cross_program_prefetches=1)
    changed = problem((W,), (updates(0),), machine=machine)
    assert lower_bound(changed).seconds == pytest.approx(8, rel=1e-6)
    unchanged = problem((W,), (reads(0),), machine=machine)
    assert lower_bound(unchanged).seconds == pytest.approx(2, rel=1e-6)


@pytest.mark.parametrize(
    ("evictions", "seconds"),
    [
        # Written in 2 s and evicted in 8 s, 5 of which hide behind the computation; or
        # written in 8 s in slow memory.
        (1, 2 + 5 + 3),
        (0, 8 + 5),
    ],
)
def test_an_output_is_evicted_if_it_may_be(evictions: int, seconds: float) -> None:
    engine = CopyEngine(max_outstanding_evictions=evictions)
    machine = small_target(engine=engine)
    given = problem((OUT,), (writes(0),), (), compute={1: 5.0}, machine=machine)
    assert lower_bound(given).seconds == pytest.approx(seconds, rel=1e-6)
