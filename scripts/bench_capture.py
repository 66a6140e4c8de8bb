"""Capture the example programs for every target, read, simulate and solve them.

``python scripts/bench_capture.py OUT [TARGET ...] [--cycles]`` prints the table of
``docs/capture.md``; the workloads stay in the folder OUT.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from hybridalloc import solve
from hybridalloc.compiler.capture import capture_source
from hybridalloc.compiler.source import in_file
from hybridalloc.compiler.topology import TOPOLOGIES
from hybridalloc.io.read import read_problem
from hybridalloc.problem import CostModel
from hybridalloc.program import Program
from hybridalloc.simulator import simulate

EXAMPLES = Path(__file__).parents[1] / "examples" / "programs"
PROGRAMS = {
    "transformer_block": "transformer.py",
    "training_step": "transformer.py",
    "decode_step": "transformer.py",
    "perceptron": "layers.py",
    "convolutions": "layers.py",
    "recurrence": "layers.py",
}
CAPACITIES = {"tpu-v5e": 128 * 2**20}
"""For targets that leave it to be given: all that the chip has."""
SOLVE_S = 5


@dataclass(frozen=True)
class Row:
    """What became of one program."""

    name: str
    target: str
    capture_s: float
    read_s: float
    program: Program
    xla: float
    """Seconds that the compiler's own map takes."""
    ours: float
    """Seconds that the map of ``hybrid`` takes, which does not start from it."""

    def __str__(self) -> str:
        program = self.program
        seen = sum(bool(i.observations) for i in program.instructions)
        return (
            f"| `{self.target}` | `{self.name}` | {len(program)} | {seen} | "
            f"{len(program.buffers)} | {self.capture_s:.1f} | {self.read_s:.2f} | "
            f"{self.xla * 1e6:.1f} | {self.ours * 1e6:.1f} |"
        )


def main(arguments: list[str]) -> None:
    """Print the table."""
    cycles = "--cycles" in arguments
    out, *targets = [text for text in arguments if not text.startswith("--")]
    print(
        "| target | program | instructions | estimated | buffers | capture s | read s "
        "| XLA µs | hybrid µs |\n|---|---|--:|--:|--:|--:|--:|--:|--:|"
    )
    for target in targets or TOPOLOGIES:
        for name in PROGRAMS:
            print(row(name, target, Path(out), cycles=cycles), flush=True)


def row(name: str, target: str, out: Path, *, cycles: bool) -> Row:
    """Capture, read and solve one program."""
    source = in_file(f"{EXAMPLES / PROGRAMS[name]}:{name}", f"{name}_arguments")
    folder = out / target / name
    begun = time.monotonic()
    capture_source(source, target, folder, cycles=cycles, options={})
    captured = time.monotonic()
    model = CostModel.CYCLES if cycles else CostModel.ROOFLINE
    problem = read_problem(folder, cost_model=model, capacity=CAPACITIES.get(target))
    assert problem.compiler_map is not None
    xla = simulate(problem, problem.compiler_map).time_s
    read = time.monotonic()
    result = solve(problem, time_limit=SOLVE_S)
    assert result.time is not None
    return Row(
        name,
        target,
        captured - begun,
        read - captured,
        problem.program,
        xla,
        result.time,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
