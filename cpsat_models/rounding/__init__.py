"""The relaxation's solution, rounded to maps."""

from hybridalloc.cpsat_models.rounding.config import LpConfig
from hybridalloc.cpsat_models.rounding.solver import Lp

__all__ = ["Lp", "LpConfig"]
