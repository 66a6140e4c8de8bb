"""Maps and names to draw."""

from __future__ import annotations

from dataclasses import replace

from named_problems import NAMED, problem, writes

from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin, Slice
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer

SLICED = Allocation(
    *(0, 8, 0, 3, Origin.PREFETCHED, 2), slices=(Slice(4, 1), Slice(4, 0))
)
"""The input of the chain, its upper half fetched first."""
EVICTED = Allocation(1, 0, 0, 3, eviction=Eviction(1, 2))
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"'`&amp;&lt;{{data}}",
    "<!--<script>",
    "x" * 300,
    "重み行列.θ → αβγ العربية",
    "\x1b[31mred\x07\x7f\ttab",
    "two\nlines\u2028and\u202ea\x00null",
    "\ud800 half",
    "",
)


def hostile_problem(name: str) -> tuple[Problem, MemoryMap]:
    """A chain whose program, first buffers and instructions have this name."""
    chain = NAMED["a chain"]
    program = chain.program
    first, second, *others = program.buffers
    buffers = (replace(first, name=name), replace(second, name=name + "2"), *others)
    steps = tuple(replace(step, name=name) for step in program.instructions)
    renamed = replace(program, name=name, buffers=buffers, instructions=steps)
    return replace(chain, program=renamed), MemoryMap((SLICED, EVICTED))


def single() -> tuple[Problem, MemoryMap]:
    """A program of one instruction."""
    return problem((Buffer("x", 8),), (writes(0),)), MemoryMap(
        (Allocation(0, 0, 0, 1),)
    )
