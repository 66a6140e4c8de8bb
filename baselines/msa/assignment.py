"""What XLA's assignment has come to so far, and why it fails where it does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto

from hybridalloc.baselines.msa.copy_resource import CopyResource
from hybridalloc.baselines.msa.heap import Heap
from hybridalloc.baselines.msa.interval_picker import IntervalPicker
from hybridalloc.baselines.msa.lifetimes import Lifetimes
from hybridalloc.baselines.msa.options import MsaOptions
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem


class Failure(Flag):
    """Why a buffer is in slow memory for a use."""

    NONE = 0
    OUT_OF_MEMORY = auto()
    OUT_OF_COPIES = auto()
    """Too many copies, or not enough bandwidth."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What all buffers share: the machine, and what has been assigned so far."""

    problem: Problem
    loops: Loops
    lifetimes: Lifetimes
    options: MsaOptions
    picker: IntervalPicker
    heap: Heap
    prefetches: CopyResource
    evictions: CopyResource
