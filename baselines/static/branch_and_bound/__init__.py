"""Branch and bound over canonical placements, after minimalloc and TelaMalloc."""

from hybridalloc.baselines.static.branch_and_bound.solver import BranchAndBound

__all__ = ["BranchAndBound"]
