"""Memory mapping for compiled ML programs."""

from hybridalloc.compiler.capture import capture
from hybridalloc.compose import BestOf, Chain, FirstOf, Share, Together, Within
from hybridalloc.errors import (
    CompilerError,
    HybridAllocError,
    InputError,
    StrategyError,
    UsageError,
)
from hybridalloc.io.target_file import get_target
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin, Slice
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import Access, Buffer, Instruction, Loop, Memory, Program
from hybridalloc.solver import Incumbent, Outcome, Result, Run, Solver, Status
from hybridalloc.solving import bounded, solve
from hybridalloc.static.problem import Gap, StaticBuffer, StaticProblem
from hybridalloc.static.result import StaticResult
from hybridalloc.target import Target
from hybridalloc.verification import OptimalityReport, Verdict, verify

__all__ = [
    "Access",
    "Allocation",
    "BestOf",
    "Buffer",
    "Chain",
    "CompilerError",
    "CostModel",
    "Eviction",
    "FirstOf",
    "Gap",
    "HybridAllocError",
    "Incumbent",
    "InputError",
    "Instruction",
    "Loop",
    "Memory",
    "MemoryMap",
    "OptimalityReport",
    "Origin",
    "Outcome",
    "Problem",
    "Program",
    "Result",
    "Run",
    "Share",
    "Slice",
    "Solver",
    "StaticBuffer",
    "StaticProblem",
    "StaticResult",
    "Status",
    "StrategyError",
    "Target",
    "Together",
    "UsageError",
    "Verdict",
    "Within",
    "bounded",
    "capture",
    "get_target",
    "solve",
    "verify",
]
