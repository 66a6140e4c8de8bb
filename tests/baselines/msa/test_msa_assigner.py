"""Buffer after buffer: what is undone, what is packed anew, and how a run ends."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msa_cases import (
    BIG,
    NONE,
    PACKED,
    of,
    own_size,
    reads,
    solve,
    stays,
    words,
    writes,
)
from named_problems import NAMED, OUT, V, W, X, Y

from hybridalloc.baselines.msa import Msa, MsaOptions
from hybridalloc.baselines.msa.assigner import Assigner
from hybridalloc.baselines.msa.attempt import Attempt
from hybridalloc.baselines.msa.heap import Heap
from hybridalloc.checker import check
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import Buffer, Loop, Observation
from hybridalloc.solver import UNANSWERED, Run


def glanced_at(read: int) -> Problem:
    """Of a weight of 16 bytes some are read, after time enough to fetch them all."""
    return of((BIG,), NONE, NONE, (reads(0, read),), compute={0: 20, 1: 20})


def test_a_fetched_buffer_of_which_less_than_half_is_read_is_not_fetched() -> None:
    assert stays(glanced_at(8)) == ["big 0>2-3"]
    assert stays(glanced_at(7)) == []
    assert stays(glanced_at(7), inefficient_use_to_copy_ratio=0.25) == ["big 0>2-3"]


def test_in_a_loop_what_is_read_counts_five_times() -> None:
    """5 * 2 bytes of a loop that runs twice."""
    steps = NONE, NONE, NONE, (reads(0, 2),)
    loop = Loop(3, 4, trip_count=2)
    looping = of((BIG,), *steps, compute={0: 20, 1: 20, 2: 20}, loops=(loop,))
    assert len(stays(looping)) == 1
    assert stays(looping, while_execution_count=3) == []


def test_an_eviction_counts_as_a_copy_too() -> None:
    """8 bytes written and 2 read, of 8 * 2 * ratio; a copy in and out would be more."""
    steps = (writes(0),), (reads(0, 2),), NONE, NONE
    written = of((OUT,), *steps, compute={2: 50})
    assert len(stays(written, inefficient_use_to_copy_ratio=10 / 8)) == 1
    assert stays(written, inefficient_use_to_copy_ratio=11 / 8) == []


def test_what_is_not_worth_its_copies_does_not_rule_out_other_uses() -> None:
    """After a wait that is too long x would be fetched again for one byte."""
    steps = (writes(0),), (reads(0),), NONE, NONE, NONE, (reads(0, 1),)
    glance = of((X,), *steps, compute={2: 300, 3: 20, 4: 20})
    assert stays(glance, inefficient_use_to_copy_ratio=0) == [
        "x 0-3 out 1>3",
        "x 4>5-6",
    ]
    assert stays(glance) == ["x 0-3 out 1>3"]


def test_all_is_packed_anew_when_there_is_no_room() -> None:
    """First a is at 0, then c at 0 and b above a, so that for d 4 + 4 bytes are left.

    What is there longest goes first: b at 0, then a and c at 8, and d at 20.
    """
    found = solve(PACKED)
    assert words(PACKED, found) == ["a 0-2", "b 0-5", "d 2-4", "c 3-5"]
    assert [x.offset for x in found.allocations] == [8, 0, 20, 8]


def test_without_packing_anew_there_is_no_room() -> None:
    found = solve(PACKED, max_repacks=0)
    assert words(PACKED, found) == ["a 0-2", "b 0-5", "c 3-5"]
    assert [x.offset for x in found.allocations] == [0, 16, 0]


def test_pins_are_kept_and_all_else_finds_room_beside_them() -> None:
    pinned = NAMED["pinned buffers"]
    found = solve(pinned)
    assert {x.buffer for x in found.allocations} == {0, 1, 2}


def test_pins_that_do_not_fit_leave_no_answer() -> None:
    small = NAMED["pinned buffers"].with_capacity(12)
    assert Msa().solve(small, Run()) == UNANSWERED


def test_copies_that_are_taken_in_use_bandwidth() -> None:
    """15 s hide one copy of 8; that of v is there before w has its turn."""
    both = of((W, V), NONE, NONE, (reads(0), reads(1)), compute={0: 5, 1: 10})
    assigner = Assigner(both, Loops(both.program), own_size())
    assigner.take([Allocation(1, 8, 0, 3, Origin.PREFETCHED, ready=2)])
    assigner.assign(Run())
    assert words(both, assigner.memory_map()) == ["v 0>2-3"]


def test_evictions_that_are_taken_in_use_bandwidth() -> None:
    """Beside that of out only 8 of 16 s are left for that of y, which wants both."""
    other = replace(OUT, name="y")
    steps = (writes(0), writes(1)), (reads(1),), NONE
    both = of((OUT, other), *steps, compute={1: 15})
    assert len(stays(both, max_retries=1)) == 1
    assigner = Assigner(
        both, Loops(both.program), own_size(max_outstanding_evictions=1)
    )
    assigner.take([Allocation(0, 8, 0, 2, eviction=Eviction(1, 2))])
    assigner.assign(Run())
    assert words(both, assigner.memory_map()) == ["out 0-2 out 1>2"]


def test_the_cost_model_makes_no_difference() -> None:
    """Estimates of cycles would make every instruction longer by 50 s."""
    plain = of((W,), NONE, (reads(0),), compute={0: 2})
    steps = tuple(
        replace(x, observations=(Observation((), 50.0),))
        for x in plain.program.instructions
    )
    program = replace(plain.program, instructions=steps)
    cycles = replace(plain, program=program, cost_model=CostModel.CYCLES)
    assert stays(plain) == stays(cycles) == []


def test_an_expired_run_has_a_valid_map() -> None:
    late = Run(deadline=0.0)
    for name, problem in NAMED.items():
        found = Msa().solve(problem, late).map
        assert found is not None, name
        assert check(problem, found) == (), name


def test_the_first_map_leaves_everything_in_slow_memory() -> None:
    reported: list[MemoryMap] = []
    Msa().solve(NAMED["a chain"], Run(report=reported.append))
    assert reported == [MemoryMap()]


THREE = of(
    (X, Y, Buffer("z", 8)),
    *((writes(0), writes(1), writes(2)), (reads(0), reads(1), reads(2))),
)
"""Three buffers that all stay, taken up in this order."""


@pytest.mark.parametrize("calls", [1, 2, 3])
@pytest.mark.parametrize("where", [(Attempt, "succeeds"), (Heap, "best_fit")])
def test_an_interrupt_leaves_what_was_assigned_before(
    calls: int, where: tuple[type, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes while the first, second or third buffer is being assigned."""
    owner, name = where
    called, original = [], getattr(owner, name)

    def interrupted(*arguments: object) -> object:
        called.append(arguments)
        if len(called) == calls:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(owner, name, interrupted)
    reported: list[MemoryMap] = []
    with pytest.raises(KeyboardInterrupt):
        Msa().solve(THREE, Run(report=reported.append))
    assert words(THREE, reported[-1]) == ["x 0-2", "y 0-2", "z 0-2"][: calls - 1]
    assert check(THREE, reported[-1]) == ()


def test_an_interrupt_before_the_first_buffer_leaves_the_pins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hybridalloc.baselines.msa.assigner.in_order", interrupted)
    pinned = NAMED["pinned buffers"]
    reported: list[MemoryMap] = []
    with pytest.raises(KeyboardInterrupt):
        Msa().solve(pinned, Run(report=reported.append))
    assert {x.buffer for x in reported[-1].allocations} == {0, 1, 2}
    assert check(pinned, reported[-1]) == ()


def test_the_same_problem_has_the_same_map() -> None:
    for problem in NAMED.values():
        runs = Run(seed=1, iterations=5), Run(seed=2)
        one, other = (Msa(MsaOptions()).solve(problem, run) for run in runs)
        assert one == other
