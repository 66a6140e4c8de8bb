"""Moves of every kind: the tables agree with the simulator, the checker and new ones.

Each test ends with counts, so that none passes because nothing has happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from named_problems import NAMED, observed
from search_walks import KINDS, Habits, Tally, Walk, walk_from_a_random_map
from small_problems import Sizes, small_problem
from strategies import memory_maps, problems

from hybridalloc.checker import check
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import MemoryMap
from hybridalloc.objective import MODELS
from hybridalloc.problem import CostModel, Problem

SIZES = Sizes(buffers=7, instructions=14, loops=4)
CLOSELY = Habits()
UNCHANGING = ("nothing to do", "hardly any fast memory", "pinned buffers")
"""In these no move comes about."""
NOW_AND_THEN = Habits(keep_others=0.1, check_every=20, look_every=20)


def sliced(problem: Problem, most: int) -> Problem:
    """The same problem, with so many slices of a prefetch at most."""
    engine = replace(problem.target.copy_engine, max_slices=most)
    return replace(problem, target=replace(problem.target, copy_engine=engine))


def under_both(problem: Problem) -> list[Problem]:
    """The problem under each cost model."""
    return [replace(problem, cost_model=model) for model in MODELS]


@pytest.mark.parametrize("name", NAMED)
def test_moves_in_named_problems_are_judged_right_and_taken_back(name: str) -> None:
    seen = Tally()
    for given_one in ([NAMED[name]], under_both(observed(NAMED[name]))):
        walk = walk_from_a_random_map(given_one, seed=1)
        assert walk is not None
        walk.make(60, CLOSELY)
        seen.add(walk.tally)
    assert seen.undone + seen.kept == seen.moves == 120
    assert seen.kept == seen.checked == seen.rebuilt
    assert seen.kept > 0 or name in UNCHANGING


@pytest.mark.parametrize(
    "seeds", [range(i, i + 20) for i in range(0, 100, 20)], ids=str
)
def test_moves_in_random_problems_are_judged_right_and_taken_back(
    seeds: Sequence[int],
) -> None:
    seen = Tally()
    for seed in seeds:
        problem = sliced(small_problem(seed, SIZES), 1 + seed % 4)
        if walk := walk_from_a_random_map([problem], seed):
            walk.make(50, CLOSELY)
            seen.add(walk.tally)
    assert seen.kept > 150
    assert seen.undone > 150


@given(data=st.data(), seed=st.integers(0, 1000))
@settings(max_examples=60)
def test_moves_from_any_valid_map_are_judged_right_and_taken_back(
    data: st.DataObject, seed: int
) -> None:
    problem = data.draw(problems(pinned=True))
    start = data.draw(memory_maps(problem))
    assume(not check(problem, start))
    Walk([problem], start, seed).make(25, CLOSELY)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_move_comes_about(kind: int, bundled: Path) -> None:
    problem = read_problem(bundled / "lstm_lm_b64_s128")
    walk = walk_from_a_random_map([problem], seed=0)
    assert walk is not None
    walk.make(150, NOW_AND_THEN)  # for there to be what may be moved
    before = walk.tally.judged
    walk.make(150, NOW_AND_THEN, kinds=[kind])
    assert walk.tally.judged - before >= 1


@pytest.mark.parametrize("model", CostModel)
@pytest.mark.parametrize("name", ["gcn3_train_n4096", "mixer_block_b128"])
def test_moves_in_real_programs_are_judged_right_and_taken_back(
    name: str, model: CostModel, bundled: Path
) -> None:
    problem = replace(read_problem(bundled / name), cost_model=model)
    walk = walk_from_a_random_map([problem], seed=2)
    assert walk is not None
    walk.make(800, NOW_AND_THEN)
    assert walk.tally.checked > 2
    assert walk.tally.undone > 2
    assert walk.tally.worst < 1e-12


def test_two_cost_models_are_played_beside_each_other(bundled: Path) -> None:
    problem = read_problem(bundled / "lstm_lm_b64_s128")
    walk = Walk(under_both(problem), MemoryMap(), seed=3)
    walk.make(800, NOW_AND_THEN)
    assert walk.tally.checked > 2
    assert walk.tally.worst < 1e-12
