"""A program whose every prediction can be worked out by hand, and weights for it."""

from __future__ import annotations

from hybridalloc.learned.prediction import Coefficients
from hybridalloc.program import Access, Buffer, Instruction, Memory, Program
from hybridalloc.target import MemorySpace, Target

# Two cycles a second. Slow memory serves 1 byte a second, or writes 2: a byte read is 2
# cycles, a byte written 1.
TARGET = Target(
    name="round",
    spaces=(MemorySpace("fast", 10, 20, 1000), MemorySpace("slow", 1, 2)),
    flops_per_second=1.0,
    clock_hz=2.0,
)
READ, WRITTEN, KEPT = Access(0, 10), Access(1, 0, 30, whole=True), Access(2, 5)
STEP = Instruction("t", 7.0, (READ, WRITTEN, KEPT), kind="copy")
PROGRAM = Program(
    "p",
    (STEP,),
    (
        Buffer("read", 100, is_input=True),
        Buffer("written", 100),
        Buffer("kept", 100, is_input=True, memory=Memory.SLOW),
    ),
)
ALL = Coefficients(
    {
        "": (1, 1, 1, 1, 1, 1),
        "copy": (100, 0, 0, 3, 2, 1),
        "loop-fusion": (5, 0, 0, 0, 0, 0),
        "gather": None,
    }
)
