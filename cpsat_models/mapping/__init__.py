"""The exact model of memory mapping, with one slice a prefetch."""

from hybridalloc.cpsat_models.mapping.options import CpSatOptions
from hybridalloc.cpsat_models.mapping.solver import CpSat

__all__ = ["CpSat", "CpSatOptions"]
