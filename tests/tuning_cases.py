"""A tuning with the stand-in for the compiler, and one that an earlier run left."""

from __future__ import annotations

import time
from pathlib import Path

from hybridalloc.compiler.source import in_file
from hybridalloc.io.json_format import write_map
from hybridalloc.io.target_file import get_target
from hybridalloc.memory_map import MemoryMap
from hybridalloc.tuning.tuner import TuneConfig, Tuner


def tuner(program: str, folder: Path, rounds: int = 2) -> Tuner:
    return Tuner(
        in_file(f"{program}:double", "f32[1024]"),
        get_target("tpu-v4i"),
        folder,
        TuneConfig("greedy", solve_s=1, plans=2, rounds=rounds),
        time.monotonic() + 100,
        lambda _: None,
    )


def given(program: str, folder: Path) -> tuple[object, ...]:
    """The command that tunes it."""
    what = ("tune", f"{program}:double", "--args", "f32[1024]", "--out", folder)
    return (*what, "--solve-time", "1", "--strategy", "greedy")


def plant(folder: Path, program: str) -> None:
    """Have an earlier run end with a plan that is not compiled yet: nothing is fast."""
    first = tuner(program, folder, rounds=1)
    first.run()
    write_map(MemoryMap(), first.problem, folder / "round-1a.map.json")
