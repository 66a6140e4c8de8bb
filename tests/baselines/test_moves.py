"""Moves of a plan."""

from __future__ import annotations

from named_problems import V, W, problem, reads

from hybridalloc import Run
from hybridalloc.baselines.moves import Moves
from hybridalloc.baselines.plan import Plan
from hybridalloc.loops import Loops
from hybridalloc.stays import cross_program_stays


def test_cross_program_prefetches_that_are_there_count() -> None:
    """The target has one; each of two weights would save 6 s, and both fit."""
    of = problem((W, V), (reads(0),), (reads(1),))
    plan = Plan(of, Loops(of.program))
    first, second = cross_program_stays(plan.problem, plan.loops)
    moves = Moves(plan, (), Run())
    assert plan.place_cross_program(first)
    assert plan.saving(second) == 6
    moves.place_cross_programs(limit=10)
    assert plan.cross_programs == 1
    assert not plan.overlapping(second)
