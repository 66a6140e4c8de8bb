"""Fitting the learned model to the compiler's estimates."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from hybridalloc.arrays import Floats
from hybridalloc.learned.prediction import FEATURES, Coefficients, family, features
from hybridalloc.problem import Problem

LEAST_SAMPLES = 20
LEAST_PROGRAMS = 3
"""A kind seen less often, or in fewer programs, has the weights of its family."""


@dataclass(frozen=True, slots=True)
class Sample:
    """An instruction at one placement, as the compiler saw it."""

    kind: str
    program: str
    features: tuple[float, ...]
    cycles: float


def samples(problem: Problem) -> Iterator[Sample]:
    """Every observed placement of a problem's program."""
    for instruction in problem.program.instructions:
        for seen in instruction.observations:
            if seen.cycles > 0:
                found = features(instruction, problem.target, seen.fast)
                yield Sample(instruction.kind, problem.program.name, found, seen.cycles)


def fit(problems: Sequence[Problem], used: Collection[str] = FEATURES) -> Coefficients:
    """The weights with the least squared relative error on what the compiler saw.

    Args:
        problems: With the compiler's estimates.
        used: The features that may weigh anything.

    Returns:
        Weights for each kind that is seen often enough, for each family of kinds, and
        for all; none for a kind of which most instructions have no estimate.

    Raises:
        ValueError: No problem carries an estimate.
    """
    groups: dict[str, list[Sample]] = defaultdict(list)
    for sample in (x for problem in problems for x in samples(problem)):
        for name in {sample.kind, family(sample.kind), ""}:
            groups[name].append(sample)
    if "" not in groups:
        raise ValueError("no program carries the compiler's estimates")
    weights: dict[str, tuple[float, ...] | None] = {
        kind: _least_squares(group, used)
        for kind, group in groups.items()
        if kind == "" or _is_known(group)
    }
    return Coefficients(weights | dict.fromkeys(_without_estimates(problems)))


def _is_known(group: Sequence[Sample]) -> bool:
    programs = {sample.program for sample in group}
    return len(group) >= LEAST_SAMPLES and len(programs) >= LEAST_PROGRAMS


def _least_squares(group: Sequence[Sample], used: Collection[str]) -> tuple[float, ...]:
    """Weights of at least 0; relative errors count, so each row is divided."""
    cycles = np.array([sample.cycles for sample in group])
    rows: Floats = np.array([sample.features for sample in group]) / cycles[:, None]
    rows[:, [name not in used for name in FEATURES]] = 0.0
    found, _ = nnls(rows, np.ones(len(group)))
    return tuple(found.tolist())


def _without_estimates(problems: Sequence[Problem]) -> Iterator[str]:
    """The kinds that do something but have, for the most part, no estimates."""
    seen: Mapping[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for problem in problems:
        for instruction in problem.program.instructions:
            if any(features(instruction, problem.target, ())[1:]):
                seen[bool(instruction.observations)][instruction.kind] += 1
    for kind, count in seen[False].items():
        if count > seen[True][kind] and kind:
            yield kind
