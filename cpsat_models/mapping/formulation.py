"""The whole model: variables, then constraints, then objective."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hybridalloc.cpsat_models.mapping.capacity import fits_capacity
from hybridalloc.cpsat_models.mapping.copies import constrain_copies
from hybridalloc.cpsat_models.mapping.costs import InstructionTime, instruction_times
from hybridalloc.cpsat_models.mapping.lives import Life, lives
from hybridalloc.cpsat_models.mapping.queues import Clocks, QueueBuilder
from hybridalloc.cpsat_models.mapping.residency import constrain_residency
from hybridalloc.cpsat_models.mapping.units import Units
from hybridalloc.cpsat_models.mapping.variables import (
    Linear,
    Model,
    Variables,
    make_variables,
)
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem

COARSER = (1, 1e3, 1e6, 1e9)
"""By so much longer are units, where CP-SAT cannot hold the numbers of a model."""

MOST_RUNS = 2**40
"""An instruction that runs more often has a weight that CP-SAT cannot sum up."""


@dataclass(frozen=True)
class Formulation:
    """The model of one problem."""

    model: Model
    variables: Variables
    times: list[InstructionTime]
    clocks: Clocks
    objective: Linear
    units: Units
    literals: int
    """How many there are for copies."""
    free_dues: bool
    """Whether prefetches may be due before they are needed, which rarely is of use."""

    @property
    def limited(self) -> bool:
        """Whether the limits on outstanding copies are kept to."""
        return self.free_dues


def formulate(
    problem: Problem,
    units: Units,
    *,
    free_dues: bool,
    most_literals: float = math.inf,
    deadline: float = math.inf,
) -> Formulation | None:
    """Build the model, in longer units if its numbers are too large for CP-SAT.

    Args:
        problem: What is to be mapped.
        units: Of time.
        free_dues: See ``Formulation``. Without it the model is smaller, and its least
            objective is a bound all the same.
        most_literals: For copies; with more the model is not built.
        deadline: In seconds of ``time.monotonic()``.

    Returns:
        The model; ``None`` if it would have too many literals, or numbers that CP-SAT
        cannot hold in any units.

    Raises:
        TimeoutError: It could not be built by the deadline.
    """
    if max(problem.program.multiplicity, default=0) > MOST_RUNS:
        return None
    for factor in COARSER:
        coarser = Units(units.second / factor)
        made = _build(problem, coarser, free_dues, most_literals, deadline)
        if made is None or not made.model.validate():
            return made
    return None


def _build(
    problem: Problem,
    units: Units,
    free_dues: bool,
    most_literals: float,
    deadline: float,
) -> Formulation | None:
    """Build the model in these units."""
    model, loops = Model(deadline), Loops(problem.program)
    skeleton, count = list[Life](), 0
    for life in lives(problem, loops, free_dues=free_dues):
        skeleton.append(life)
        count += life.literals
        if count > most_literals:
            return None
        model.require_time()
    variables = make_variables(model, problem, loops, tuple(skeleton))
    constrain_residency(variables)
    constrain_copies(variables, limit_outstanding=free_dues)
    fits_capacity(variables)
    times = instruction_times(variables, units)
    queues = QueueBuilder(variables, times, units)
    queues.build()
    model.minimize(queues.objective)
    model.decide()
    return Formulation(
        *(model, variables, times, queues.clocks),
        queues.objective,
        units,
        count,
        free_dues,
    )
