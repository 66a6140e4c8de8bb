"""The learned model's estimates, by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from learned_cases import ALL, KEPT, PROGRAM, STEP, TARGET
from strategies import problems

from hybridalloc.cost_model import elapsed, idle
from hybridalloc.learned import prediction
from hybridalloc.learned.prediction import (
    Coefficients,
    built_in,
    dumps,
    family,
    features,
    loads,
    predict,
)
from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import Access, Instruction, Observation
from hybridalloc.simulator import Simulator


def test_features_are_cycles_of_computing_and_of_traffic() -> None:
    everything = (1.0, 14.0, 30.0, 30.0)
    assert features(STEP, TARGET, ()) == (*everything, 30.0, 30.0)
    assert features(STEP, TARGET, {0, 1}) == (*everything, 10.0, 0.0)


def test_the_two_predictions_have_nothing_and_what_may_be_in_fast_memory() -> None:
    """100 + 3 * 30 cycles, and for slow memory 2 * 30 + 30 or, of `kept`, 2 * 10."""
    assert predict(PROGRAM, TARGET, ALL) == (
        (Observation((), 280.0), Observation((0, 1), 210.0)),
    )


def test_what_may_never_be_in_fast_memory_has_one_prediction() -> None:
    only = replace(STEP, accesses=(KEPT,))
    program = replace(PROGRAM, instructions=(only,))
    assert predict(program, TARGET, ALL) == ((Observation((), 120.0),),)


@pytest.mark.parametrize(
    "step",
    [
        replace(STEP, kind="gather"),  # the compiler estimates none of these
        Instruction("nothing", kind="copy"),
        Instruction("allocated", accesses=(Access(1, 0, 0, whole=True),), kind="copy"),
    ],
)
def test_what_has_no_estimates_or_does_nothing_has_no_prediction(
    step: Instruction,
) -> None:
    assert predict(replace(PROGRAM, instructions=(step,)), TARGET, ALL) == ((),)


def test_a_kind_stands_for_its_family_and_its_family_for_all() -> None:
    assert family("output-fusion/convolution") == "output-fusion"
    assert ALL.of("copy") == ALL.weights["copy"]
    assert ALL.of("loop-fusion/reduce") == ALL.weights["loop-fusion"]
    assert ALL.of("sort") == ALL.of("") == ALL.weights[""]
    assert ALL.of("gather") is None


def test_coefficients_come_back_as_they_were_written() -> None:
    assert loads(dumps(ALL)) == ALL
    assert loads(dumps(built_in())) == built_in()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"copy": (1,) * 6}, "expected weights for the kind ''"),
        ({"": (1,) * 5}, "kind '' has the weights .* expected 6 numbers"),
        ({"": (1,) * 6, "x": (-1,) * 6}, "kind 'x' has the weights"),
        ({"": (math.nan,) * 6}, "kind '' has the weights"),
    ],
)
def test_coefficients_that_make_no_sense_are_refused(
    weights: dict[str, tuple[float, ...]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Coefficients(weights)


def test_the_learned_model_is_the_cycles_model_on_predictions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its own estimates make no difference; of the fast bytes a quarter is read."""
    monkeypatch.setattr(prediction, "built_in", lambda: ALL)
    carried = replace(STEP, observations=(Observation((), 1.0),))
    program = replace(PROGRAM, instructions=(carried,))
    problem = Problem(program, TARGET, CostModel.LEARNED)
    assert elapsed(problem, 0, ()) == 140
    assert elapsed(problem, 0, {0, 1}) == 105
    assert elapsed(problem, 0, {0}) == 140 - 35 / 4
    simulator = Simulator(problem)
    assert simulator.slow_s == 140
    everything = MemoryMap(tuple(Allocation(b, 100 * b, 0, 1) for b in (0, 1)))
    assert simulator.simulate(everything).time_s == 105
    assert replace(problem, cost_model=CostModel.CYCLES).observations == (
        carried.observations,
    )
    assert replace(problem, cost_model=CostModel.ROOFLINE).observations == ((),)


@given(problems(CostModel.LEARNED), st.data())
def test_fast_memory_never_costs_time_and_copies_have_idle_time(
    problem: Problem, data: st.DataObject
) -> None:
    t = data.draw(st.integers(0, len(problem.program) - 1))
    buffers = range(len(problem.program.buffers))
    fast = data.draw(st.sets(st.sampled_from(buffers))) if buffers else set()
    roofline = replace(problem, cost_model=CostModel.ROOFLINE)
    assert elapsed(problem, t, fast) <= elapsed(problem, t, ()) * (1 + 1e-12)
    assert elapsed(problem, t, fast) >= elapsed(roofline, t, fast)
    assert idle(problem, t, fast) >= -1e-9 * elapsed(problem, t, fast)
