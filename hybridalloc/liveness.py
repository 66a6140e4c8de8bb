"""How much of a program is live, wherever it is."""

from __future__ import annotations

import numpy as np

from hybridalloc.arrays import Ints
from hybridalloc.loops import Loops
from hybridalloc.program import Program


def live_bytes(program: Program) -> Ints:
    """(T,): the bytes of all buffers that are live during each instruction.

    A buffer lives from its first access to its last, an input from the start of the
    program, an output to its end, and what is live as a loop begins until it ends.
    """
    loops = Loops(program)
    change = np.zeros(len(program) + 1, dtype=np.int64)
    for buffer, uses in zip(program.buffers, program.uses, strict=True):
        if not uses:
            continue
        start = -1 if buffer.is_input else uses[0].instruction
        last = len(program) - 1 if buffer.is_output else uses[-1].instruction
        entered = (loop.end for loop in loops.around(last) if start < loop.start)
        change[max(start, 0)] += buffer.size
        change[next(entered, last + 1)] -= buffer.size
    return np.cumsum(change)[:-1]
