"""What annealing makes of a map."""

from __future__ import annotations

import math
from itertools import count

import pytest
from named_problems import NAMED, V, W, X, problem, reads, target, writes

from hybridalloc import Allocation, MemoryMap, solve
from hybridalloc.baselines import annealing, best
from hybridalloc.baselines.annealing import Annealing, AnnealingConfig
from hybridalloc.baselines.edits import Edits
from hybridalloc.baselines.neighbours import NeighbourConfig
from hybridalloc.memory_map import Origin
from hybridalloc.program import Access, Buffer, Memory
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Run


@pytest.mark.parametrize("name", list(NAMED))
def test_from_a_poor_map_it_gets_as_far_as_greedy(name: str) -> None:
    poor = solve(NAMED[name], "random", iterations=1, seed=3).map
    result = solve(NAMED[name], Annealing(), iterations=1500, warm_start=poor)
    greedy = solve(NAMED[name], "greedy")
    assert result.time is not None
    assert greedy.time is not None
    assert result.time <= greedy.time


def test_it_begins_with_nothing_where_that_is_given() -> None:
    """18 s with w left by the previous run; 48 with everything in slow memory."""
    result = solve(
        NAMED["a chain"], Annealing(), iterations=300, warm_start=MemoryMap()
    )
    assert result.history[0].time == 48.0
    assert result.time == 18.0


def test_no_iterations_leave_the_greedy_map() -> None:
    of = NAMED["a value that waits long"]
    expected = solve(of, "greedy").time
    assert solve(of, Annealing(), iterations=0).time == expected


def test_one_seed_is_one_map_and_seeds_differ() -> None:
    """Two weights save the same, so that chance decides which is in fast memory."""
    of = problem(
        (W, V, X),
        (writes(2),),
        (reads(0), reads(1)),
        compute={0: 20.0},
        machine=target(capacity=8, cross_program_prefetches=0),
    )
    maps = [
        solve(of, Annealing(), iterations=20, seed=seed, warm_start=MemoryMap()).map
        for seed in (*range(8), *range(8))
    ]
    assert maps[:8] == maps[8:]
    chosen = {x.allocations[0].buffer for x in maps if x is not None}
    assert chosen == {0, 1}


def test_a_hot_search_leaves_the_local_optimum_in_which_a_cold_one_is_caught() -> None:
    """Nothing is put into room that is left, so the way there leads uphill.

    The 20 s apart: 2 + 14 with w in fast memory, 8 + 1.75 + 7 with one of the small
    ones instead, 8 + 3.5 with both.
    """
    small = [Buffer(name, 4, is_input=True) for name in ("a", "b")]
    of = problem(
        (W, *small, X),
        (),
        (reads(0), Access(1, read_bytes=7), Access(2, read_bytes=7)),
        compute={0: 20.0},
        machine=target(capacity=8, cross_program_prefetches=0),
    )
    start = MemoryMap((Allocation(0, 0, 0, 2, Origin.PREFETCHED, 1),))
    times = [
        solve(
            of,
            Annealing(
                AnnealingConfig(
                    hottest=temperature,
                    coldest=temperature,
                    neighbours=NeighbourConfig(fillers=0),
                )
            ),
            iterations=300,
            warm_start=start,
        ).time
        for temperature in (1e-9, 0.1)
    ]
    assert times == [36.0, 31.5]


def test_pinned_buffers_stay_where_they_are() -> None:
    of = NAMED["pinned buffers"]
    result = solve(of, Annealing(), iterations=500)
    assert result.map is not None
    pinned = {i for i, x in enumerate(of.program.buffers) if x.memory is Memory.FAST}
    assert pinned <= {x.buffer for x in result.map.allocations}


def test_an_interrupt_loses_no_better_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first better map nothing is reported, until the search is over."""
    of, reported, evaluate = NAMED["a chain"], list[MemoryMap](), Edits.time
    calls = count()

    def interrupted(edits: Edits) -> float:
        if next(calls) == 100:
            raise KeyboardInterrupt
        return evaluate(edits)

    monkeypatch.setattr(best, "EVERY_S", math.inf)
    monkeypatch.setattr(Edits, "time", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Annealing().solve(of, Run(warm_start=MemoryMap(), report=reported.append))
    times = [Simulator(of).simulate(x).time_s for x in reported]
    assert len(times) == 2
    assert times[1] == 18.0


def test_without_any_limit_it_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annealing, "ITERATIONS", 50)
    assert Annealing().solve(NAMED["a chain"], Run()).map is not None


def test_it_uses_the_cross_program_prefetch() -> None:
    result = solve(
        NAMED["a chain"], Annealing(), iterations=300, warm_start=MemoryMap()
    )
    assert result.map is not None
    assert Origin.CROSS_PROGRAM in {x.origin for x in result.map.allocations}
