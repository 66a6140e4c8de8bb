"""Understand memory maps: why a buffer is where it is, and how two maps differ."""

from hybridalloc.understanding.difference import Difference
from hybridalloc.understanding.differing import diff
from hybridalloc.understanding.explaining import explain
from hybridalloc.understanding.explanation import Explanation
from hybridalloc.understanding.naming import find_buffer
from hybridalloc.understanding.pricing import Stay, stays

__all__ = [
    "Difference",
    "Explanation",
    "Stay",
    "diff",
    "explain",
    "find_buffer",
    "stays",
]
