"""Changes of a plan are done or left undone, never half-done."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from named_problems import NAMED

from hybridalloc import Problem, Run, solve
from hybridalloc.baselines.adoption import adopt
from hybridalloc.baselines.edits import Edits
from hybridalloc.baselines.moves import Weights, weigh
from hybridalloc.baselines.neighbours import NeighbourConfig, Neighbours
from hybridalloc.baselines.plan import Plan
from hybridalloc.loops import Loops
from hybridalloc.simulator import Simulator
from hybridalloc.stays import Stay, candidate_stays

NOTHING = NeighbourConfig(
    displace=0, ruin=0, resize=0, reissue=0, remove=0, cross_program=0
)
TRIES = 60


def search(of: Problem, config: NeighbourConfig) -> tuple[Plan, Edits, Neighbours]:
    """Neighbours of the greedy map."""
    plan = Plan(of, Loops(of.program))
    start = solve(of, "greedy", iterations=1).map
    assert start is not None
    untouched = adopt(plan, start, Run())
    candidates = weigh(plan, candidate_stays(of, plan.loops), Weights())
    edits = Edits(plan, Simulator(of))
    return plan, edits, Neighbours(edits, candidates, untouched, config, Random(1))


def stays(plan: Plan) -> set[Stay]:
    """What is in the plan."""
    return {placed.stay for group in plan.placed for placed in group}


@pytest.mark.parametrize("name", list(NAMED))
def test_a_prefetch_that_is_issued_at_another_point_is_still_there(name: str) -> None:
    config = replace(NOTHING, reissue=1.0)
    plan, edits, neighbours = search(NAMED[name], config)
    before = stays(plan)
    for _ in range(0 if neighbours.is_empty else TRIES):
        neighbours.change()
        edits.keep()
        assert stays(plan) == before


@pytest.mark.parametrize("name", list(NAMED))
def test_a_cross_program_prefetch_gives_way_to_another_only(name: str) -> None:
    config = replace(NOTHING, cross_program=1.0)
    plan, edits, neighbours = search(NAMED[name], config)
    for _ in range(0 if neighbours.is_empty else TRIES):
        neighbours.change()
        crossing = [x for group in plan.placed for x in group if x.is_cross_program]
        assert edits.is_empty or crossing
        edits.keep()
