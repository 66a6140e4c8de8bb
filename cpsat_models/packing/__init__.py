"""The exact model of static allocation: offsets that fit one memory."""

from hybridalloc.cpsat_models.packing.solver import Packing

__all__ = ["Packing"]
