"""The knapsack over time: prices, what is chosen at them, and the maps it gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from named_problems import NAMED, V, W, X, problem, reads, target, temporaries, writes

from hybridalloc import MemoryMap, Problem, solve
from hybridalloc.baselines.knapsack import Knapsack, KnapsackConfig
from hybridalloc.baselines.plan import Plan
from hybridalloc.baselines.prices import Prices, Stays
from hybridalloc.loops import Loops
from hybridalloc.solver import Run
from hybridalloc.stays import Stay, candidate_stays

ONE_FITS = target(capacity=8, cross_program_prefetches=0)


def priced(of: Problem, steps: int = 200) -> tuple[list[Stay], Prices]:
    """All stays of a problem, and prices after so many changes."""
    loops = Loops(of.program)
    plan, stays = Plan(of, loops), list(candidate_stays(of, loops))
    plan.engine.hope_for(1.0)
    prices = Prices(plan, Stays.of(plan, stays, Run()))
    prices.improve(steps, 2.0, Run())
    return stays, prices


def chosen_accesses(stays: list[Stay], prices: Prices, buffer: int) -> float:
    """How many accesses of a buffer are in fast memory, on average."""
    shares: list[float] = prices.chosen.tolist()
    pairs = zip(stays, shares, strict=True)
    return sum(n * len(x.instructions) for x, n in pairs if x.buffer == buffer)


RIVALS = problem(
    (X, *temporaries(1)),
    (writes(0),),
    (writes(1),),
    (reads(1),),
    (reads(1),),
    (reads(0),),
    compute={4: 1.0},
    machine=ONE_FITS,
)
"""x has 2 accesses in 5 instructions, t0 has 3 in the 3 between: one has room."""


def test_what_saves_more_for_each_byte_and_second_is_chosen() -> None:
    """In nearly every step: all 3 accesses of t0, and x not across them."""
    stays, prices = priced(RIVALS, steps=1000)
    assert chosen_accesses(stays, prices, 1) == pytest.approx(3.0, abs=0.3)
    across = [x.buffer == 0 and len(x.instructions) == 2 for x in stays]
    assert prices.chosen[np.array(across)].sum() < 0.1


def test_at_the_prices_no_more_is_chosen_than_fits() -> None:
    """On average over the steps, at every instruction."""
    stays, prices = priced(RIVALS, steps=1000)
    for t in range(len(RIVALS.program)):
        there = np.array([x.start <= t < x.end for x in stays])
        assert prices.chosen[there].sum() * 8 <= 8 * 1.1


def test_where_everything_fits_each_buffer_is_chosen_once_and_throughout() -> None:
    """Copies are hidden in 100 s; each stay is from the first access to the last."""
    roomy = problem(
        (X, *temporaries(2)),
        (writes(0), writes(1)),
        (reads(0),),
        (reads(1),),
        (reads(0), reads(1)),
        machine=target(capacity=1000, cross_program_prefetches=0),
    )
    stays, prices = priced(roomy)
    often = [x for x, n in zip(stays, prices.chosen, strict=True) if n > 0.9]
    assert [(x.buffer, x.start, x.end) for x in often] == [(0, 0, 4), (1, 0, 4)]


def test_copies_cost_time_that_the_engine_does_not_have() -> None:
    """Nothing is idle: a read of 8 s would wait 8 s for its copy."""
    of = problem((W, X), (reads(0),), (reads(0),), machine=ONE_FITS)
    stays, prices = priced(of)
    single = next(i for i, x in enumerate(stays) if len(x.instructions) == 1)
    assert prices.cost[single] >= 8.0
    assert prices.chosen[single] == 0


def test_what_saves_more_is_kept_where_only_one_fits() -> None:
    """The weight is read twice, the other once, both at the same time."""
    of = problem(
        (W, V, X),
        (writes(2),),
        (reads(0), reads(1)),
        (reads(0), reads(1)),
        (reads(0),),
        compute={0: 20.0},
        machine=ONE_FITS,
    )
    result = solve(of, Knapsack(), iterations=3)
    assert result.map is not None
    assert {x.buffer for x in result.map.allocations} == {0}


def test_a_weight_is_there_from_the_previous_run_on() -> None:
    """As greedy finds it: 2 + 2, 2 + 2 and 2 + 8 s."""
    assert solve(NAMED["a chain"], Knapsack(), iterations=3).time == 18.0


def test_the_seed_decides_the_noise_and_the_same_seed_gives_the_same_map() -> None:
    noisy = Knapsack(KnapsackConfig(bulks=(1.0,), noise=5.0))
    of = NAMED["a loop over weights"]

    def maps(seed: int) -> tuple[MemoryMap, ...]:
        seen: list[MemoryMap] = []
        noisy.solve(of, Run(iterations=2, seed=seed, report=seen.append))
        return tuple(seen)

    assert maps(1) == maps(1)
    assert len({maps(seed) for seed in range(6)}) > 1


def test_a_program_that_nothing_can_speed_up_is_left_alone() -> None:
    """Each instruction computes for longer than its traffic takes."""
    of = problem((W, X), (reads(0), writes(1)), (reads(1),), compute={0: 50, 1: 50})
    assert solve(of, Knapsack(), iterations=3).map == MemoryMap()


def test_buffers_that_must_stay_in_slow_memory_leave_nothing_to_choose() -> None:
    slow = replace(NAMED["pinned buffers"].program.buffers[3], name="only")
    of = problem((slow,), (reads(0),))
    assert solve(of, Knapsack(), iterations=2).map == MemoryMap()
