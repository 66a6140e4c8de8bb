"""The objective: the time of one run, in units."""

from __future__ import annotations

from hybridalloc.cpsat_models.mapping.costs import InstructionTime
from hybridalloc.cpsat_models.mapping.queues import Stalls
from hybridalloc.cpsat_models.mapping.variables import Linear, Variables


def run_time(
    variables: Variables, times: list[InstructionTime], stalls: Stalls
) -> Linear:
    """What instructions take, and stalls, each as often as it happens."""
    runs = variables.problem.program.multiplicity
    running = sum(k * x.elapsed for k, x in zip(runs, times, strict=True))
    waiting = sum(
        int(variables.loops.trips(body)) * stall
        for (body, _), stall in stalls.of.items()
    )
    return running + waiting
