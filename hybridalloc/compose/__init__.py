"""Compositions of solvers, which are solvers, and their text (docs/pipelines.md)."""

from hybridalloc.compose.combinators import BestOf, Chain, FirstOf, Share, Within
from hybridalloc.compose.members import as_solver, asked, name_of
from hybridalloc.compose.strategy import Strategy
from hybridalloc.compose.text import parse, parse_single, split, split_singles
from hybridalloc.compose.together import Together

__all__ = [
    "BestOf",
    "Chain",
    "FirstOf",
    "Share",
    "Strategy",
    "Together",
    "Within",
    "as_solver",
    "asked",
    "name_of",
    "parse",
    "parse_single",
    "split",
    "split_singles",
]
