"""Brute force finds the best map, as arithmetic and a plainer search have it."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from every_map import least_time, own_sets
from named_problems import (
    CHAIN,
    DONATED,
    NAMED,
    OUT,
    PINS_THAT_DO_NOT_FIT,
    SLOW,
    W,
    X,
    problem,
    reads,
    target,
    temporaries,
    updates,
    writes,
)
from small_problems import Sizes, small_problem

from hybridalloc import Problem, Result, Status, solve
from hybridalloc.baselines.brute_force import BruteForce, BruteForceConfig
from hybridalloc.baselines.brute_force.choice import Choice
from hybridalloc.baselines.brute_force.choices import choices
from hybridalloc.baselines.brute_force.dominance import Needs
from hybridalloc.checker import check
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.oracle import execute
from hybridalloc.program import Buffer, Loop, Memory
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Infeasibility, Run
from hybridalloc.target import CopyEngine

UNSLICED = CopyEngine(max_slices=1)


def best(given: Problem, *, any_input: bool = False) -> Result:
    """The result of a search to the end; its map is checked by ``solve``."""
    config = BruteForceConfig(any_input=any_input)
    return solve(given, BruteForce(config), time_limit=math.inf)


def test_a_chain_is_read_and_written_in_fast_memory_but_for_its_input() -> None:
    """Of six accesses of 8 bytes, w's has to be slow if it is fetched just then: 8.

    As the cross-program prefetch it is fast, 2, and the copy for the next run takes 8
    in the tail. x and y are fast, 2 each time. The output is written slowly, 8; or
    fast, 2, and evicted, 8. With w held there is no copy: 5 * 2 + 8 = 18.
    """
    chain = replace(CHAIN, target=target(engine=UNSLICED))
    result = best(chain)
    assert (result.status, result.time, result.bound) == (Status.OPTIMAL, 18, 18)


def test_a_prefetch_hides_behind_a_long_computation() -> None:
    """x: 2 + 2; w: 2 and its copy of 8 within the 20 of instruction 1; out: 8.

    A held cross-program prefetch takes no less. 2 + 20 + (2 + 2 + 8) = 34.
    """
    hidden = NAMED["a weight behind a long computation"]
    one = replace(hidden, target=target(engine=UNSLICED, cross_program_prefetches=0))
    result = best(one)
    assert result.time == 34
    assert result.map is not None
    assert [x.origin for x in result.map.allocations if x.buffer == 0] == [
        Origin.PREFETCHED
    ]


def test_a_value_gives_way_to_others_and_comes_back() -> None:
    """Room for one of x and t: x is written, t comes and goes, x is read twice.

    x: 2 where written; its eviction, 8, within instruction 1, of 10 seconds. t: 2 where
    written, 2 where read. x comes back, 8, within instruction 4, of 10 seconds, for two
    reads of 2. In all 2 + 10 + 2 + 2 + 10 + 2 + 2 = 30. Without the eviction x is slow
    throughout, 3 * 8, or t is, 2 * 8: 46 or 42 = 2 + 10 + 8 + 8 + 10 + 2 + 2.
    """
    given = problem(
        (X, *temporaries(1)),
        (writes(0),),
        (),
        (writes(1),),
        (reads(1),),
        (),
        (reads(0), replace(reads(0), read_bytes=16)),
        compute={1: 10.0, 4: 10.0},
        machine=target(capacity=8, engine=UNSLICED),
    )
    result = best(given)
    assert result.time == 30
    assert result.map is not None
    assert any(x.eviction for x in result.map.allocations)
