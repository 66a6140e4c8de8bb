"""Strategies that go wrong, each in its own way; added as a package's would be."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.solver import Outcome, Run


class Raises:
    """Raises an error."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        raise ArithmeticError("so many\nbytes")


class Crashes:
    """Ends its process."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        print("out of luck", file=sys.stderr, flush=True)
        os._exit(7)


class Invalid:
    """Hands back a map that is not valid."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        return Outcome(MemoryMap((Allocation(1, 0, 0, 1),)))


class Stays:
    """Never ends, nor does the process that it starts."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(99)"])
        Path(os.environ["STAYS"]).write_text(f"{os.getpid()} {child.pid}")
        time.sleep(99)
        raise AssertionError("nobody ended it")
