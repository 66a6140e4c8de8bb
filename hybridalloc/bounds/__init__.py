"""Lower bounds: how fast a program can possibly run, whatever the memory map."""

from hybridalloc.bounds.bound import Bound, Prices
from hybridalloc.bounds.bounding import lower_bound, relaxed_serving

__all__ = ["Bound", "Prices", "lower_bound", "relaxed_serving"]
