"""What the genetic search over orders finds."""

from __future__ import annotations

import math
from itertools import count
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from named_problems import NAMED

from hybridalloc import MemoryMap, solve
from hybridalloc.baselines import best, evolutionary
from hybridalloc.baselines.evolutionary import (
    Evolutionary,
    EvolutionaryConfig,
    cross,
)
from hybridalloc.baselines.moves import Weights
from hybridalloc.simulator import Simulator
from hybridalloc.simulator.map_arrays import MapArrays
from hybridalloc.solver import Run


@given(st.permutations(range(7)), st.permutations(range(7)), st.integers())
def test_a_child_has_every_gene_once_and_a_section_of_its_first_parent(
    one: list[int], other: list[int], seed: int
) -> None:
    child = cross(tuple(one), tuple(other), Random(seed))
    assert sorted(child) == list(range(7))
    kept = [i for i in range(7) if child[i] == one[i]]
    rest = [gene for i, gene in enumerate(child) if i not in kept]
    assert rest == [gene for gene in other if gene in rest]


@pytest.mark.parametrize("name", list(NAMED))
def test_it_gets_as_far_as_greedy_on_small_problems(name: str) -> None:
    result = solve(NAMED[name], Evolutionary(), iterations=10)
    greedy = solve(NAMED[name], "greedy")
    assert result.time is not None
    assert greedy.time is not None
    assert result.time <= greedy.time


def test_the_first_map_is_the_slow_one() -> None:
    result = solve(NAMED["a chain"], Evolutionary(), iterations=2)
    assert result.history[0].map == MemoryMap()
    assert result.time == 18.0


def test_a_warm_starts_stays_are_placed_first() -> None:
    """One generation, of one order: the map comes back, or a better one."""
    of = NAMED["more than fits"]
    start = solve(of, "greedy")
    config = EvolutionaryConfig(population=4, seeds=EvolutionaryConfig().seeds[:1])
    outcome = Evolutionary(config).solve(of, Run(iterations=1, warm_start=start.map))
    assert outcome.map is not None
    assert start.time is not None
    assert Simulator(of).simulate(outcome.map).time_s <= start.time


def test_few_genes_are_those_that_the_first_orders_place() -> None:
    """With room for no others, the map of the first orders is still found."""
    of = NAMED["more than fits"]
    few = solve(of, Evolutionary(EvolutionaryConfig(genes=1)), iterations=1)
    many = solve(of, Evolutionary(EvolutionaryConfig(population=3)), iterations=1)
    assert few.time is not None
    assert many.time is not None
    assert few.time <= many.time


def test_one_seed_is_one_map() -> None:
    of = NAMED["more than fits"]
    first, second = (solve(of, Evolutionary(), iterations=5, seed=3) for _ in range(2))
    assert first.map == second.map


def test_an_interrupt_loses_no_better_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first better map nothing is reported, until the search is over.

    The first order begins with what costs most, so that later ones are better.
    """
    of, reported = NAMED["more than fits"], list[MemoryMap]()
    evaluate, calls = Simulator.encode, count()
    poor = EvolutionaryConfig(seeds=(Weights(size=-4.0, span=-4.0, copies=0.0),))

    def interrupted(simulator: Simulator, memory_map: MemoryMap) -> MapArrays:
        if next(calls) == 100:
            raise KeyboardInterrupt
        return evaluate(simulator, memory_map)

    monkeypatch.setattr(best, "EVERY_S", math.inf)
    monkeypatch.setattr(Simulator, "encode", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Evolutionary(poor).solve(of, Run(report=reported.append))
    monkeypatch.undo()
    slow, first, last = (Simulator(of).simulate(x).time_s for x in reported)
    assert slow > first > last


def test_without_any_limit_it_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evolutionary, "GENERATIONS", 2)
    config = EvolutionaryConfig(population=4)
    assert Evolutionary(config).solve(NAMED["a chain"], Run()).map is not None
