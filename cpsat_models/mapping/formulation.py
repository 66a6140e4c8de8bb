"""The whole model: variables, then constraints, then objective."""

from __future__ import annotations

from dataclasses import dataclass

from hybridalloc.cpsat_models.mapping.capacity import fits_capacity
from hybridalloc.cpsat_models.mapping.copies import constrain_copies
from hybridalloc.cpsat_models.mapping.costs import InstructionTime, instruction_times
from hybridalloc.cpsat_models.mapping.lives import lives
from hybridalloc.cpsat_models.mapping.objective import run_time
from hybridalloc.cpsat_models.mapping.queues import QueueBuilder, Stalls
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


@dataclass(frozen=True)
class Formulation:
    """The model of one problem."""

    model: Model
    variables: Variables
    times: list[InstructionTime]
    stalls: Stalls
    objective: Linear
    units: Units
    free_dues: bool
    """Whether prefetches may be due before they are needed, rarely as that is of use."""

    @property
    def limited(self) -> bool:
        """Whether the limits on outstanding copies are kept to."""
        return self.free_dues


def formulate(problem: Problem, units: Units, *, free_dues: bool) -> Formulation:
    """Build the model.

    Args:
        problem: What is to be mapped.
        units: Of time.
        free_dues: See ``Formulation``. Without it the model is smaller, and its least
            objective is a bound all the same.
    """
    model, loops = Model(), Loops(problem.program)
    skeleton = tuple(lives(problem, loops, free_dues=free_dues))
    variables = make_variables(model, problem, loops, skeleton)
    constrain_residency(variables)
    constrain_copies(variables, limit_outstanding=free_dues)
    fits_capacity(variables)
    times = instruction_times(variables, units)
    queues = QueueBuilder(variables, times, units)
    queues.build()
    objective = run_time(variables, times, queues.stalls)
    model.minimize(objective)
    model.decide()
    return Formulation(
        model, variables, times, queues.stalls, objective, units, free_dues
    )
