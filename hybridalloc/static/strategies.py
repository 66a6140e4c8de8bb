"""The strategies for static allocation by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from hybridalloc.errors import UsageError
from hybridalloc.registry import Entry, nearest
from hybridalloc.static.solver import StaticSolver

DEFAULT_STRATEGY = "race"
STATIC_STRATEGIES: Mapping[str, Entry] = {
    "fits": Entry(
        "hybridalloc.baselines.static.fits:Fits",
        "first and best fit, in several orders",
    ),
    "branch-and-bound": Entry(
        "hybridalloc.baselines.static.branch_and_bound.solver:BranchAndBound",
        "canonical placements depth first, after minimalloc and TelaMalloc",
    ),
    "packing": Entry(
        "hybridalloc.cpsat_models.packing.solver:Packing",
        "the exact model, solved by OR-Tools' CP-SAT",
    ),
    "race": Entry(
        "hybridalloc.static.race:Race",
        "the others, one after the other and at a time",
    ),
}
"""Each strategy's entry by its name."""


def static_solver(name: str) -> StaticSolver:
    """The strategy for static allocation of this name.

    Raises:
        UsageError: There is no such strategy.
    """
    if name not in STATIC_STRATEGIES:
        hint = nearest(name, STATIC_STRATEGIES)
        raise UsageError(f"unknown strategy {name!r} for static allocation; {hint}")
    module, _, attribute = STATIC_STRATEGIES[name].location.partition(":")
    return cast(StaticSolver, getattr(import_module(module), attribute)())
