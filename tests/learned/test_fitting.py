"""Fitting finds the weights that made the estimates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learned_cases import ALL, TARGET

from hybridalloc.learned.fitting import LEAST_SAMPLES, Sample, fit, samples
from hybridalloc.learned.prediction import predict
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Instruction, Observation, Program


def problem(name: str, kind: str, seed: int, count: int = LEAST_SAMPLES) -> Problem:
    """Instructions of one kind, with the estimates that the weights ``ALL`` make."""
    rng = np.random.default_rng(seed)
    steps = []
    for number in range(count):
        read, written = rng.integers(1, 100, size=2).tolist()
        accesses = Access(0, read), Access(1, 0, written, whole=True)
        compute_s = float(rng.uniform(0, 50))
        steps.append(Instruction(f"i{number}", compute_s, accesses, kind=kind))
    buffers = Buffer("read", 100, is_input=True), Buffer("written", 100)
    program = Program(name, tuple(steps), buffers)
    seen = predict(program, TARGET, ALL)
    observed = (replace(x, observations=y) for x, y in zip(steps, seen, strict=True))
    program = replace(program, instructions=tuple(observed))
    return Problem(program, TARGET)


COPIES = [problem(f"copies {seed}", "copy", seed) for seed in range(3)]


def test_a_sample_is_an_instruction_at_a_placement() -> None:
    step = Instruction(
        "i",
        accesses=(Access(0, 10),),
        observations=(Observation((), 50.0), Observation((0,), 0.0)),
        kind="copy",
    )
    program = Program("p", (step,), (Buffer("a", 10, is_input=True),))
    found = list(samples(Problem(program, TARGET)))
    # An estimate of no cycles at all is none: no error is relative to it.
    assert found == [Sample("copy", "p", (1, 0, 20, 0, 20, 0), 50.0)]


def test_the_weights_that_made_the_estimates_are_found() -> None:
    fitted = fit(COPIES)
    assert fitted.of("copy") == pytest.approx(ALL.of("copy"), abs=1e-6)
    assert fitted.of("") == pytest.approx(ALL.of("copy"), abs=1e-6)


def test_a_kind_seen_in_few_programs_has_the_weights_of_its_family() -> None:
    fusions = [problem(f"f{seed}", f"loop-fusion/{seed}", seed) for seed in range(3)]
    fitted = fit([*COPIES, *fusions])
    assert set(fitted.weights) == {"", "copy", "loop-fusion"}
    assert fitted.of("loop-fusion/1") == pytest.approx((5, 0, 0, 0, 0, 0), abs=1e-6)


def test_a_kind_mostly_without_estimates_has_no_weights() -> None:
    silent = problem("silent", "gather", seed=0)
    fitted = fit([*COPIES, silent])
    assert fitted.weights["gather"] is None
    assert fitted.of("gather") is None


def test_features_that_are_not_used_weigh_nothing() -> None:
    weights = fit(COPIES, ("one", "read", "slow_read")).of("copy")
    assert weights is not None
    assert weights[1] == weights[3] == weights[5] == 0
    assert weights[4] > 0


def test_nothing_can_be_learned_of_programs_without_estimates() -> None:
    with pytest.raises(ValueError, match="no program carries the compiler's estimates"):
        fit([problem("p", "gather", 0)])
