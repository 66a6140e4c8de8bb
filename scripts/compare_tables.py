"""Read workload folders by XLA's tables alone, and compare with the full reading.

What the tables do not tell is guessed (docs/format.md, XLA's tables). The map that a
strategy finds by the tables is judged by the program read from the HLO.
"""

from __future__ import annotations

import argparse
import math
import shutil
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from hybridalloc import solve
from hybridalloc.checker import check
from hybridalloc.io.hlo.reader import InputWarning
from hybridalloc.io.read import read_problem
from hybridalloc.io.xla.rows import read_buffer_rows
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.report.records import geometric_mean
from hybridalloc.report.tables import new_table
from hybridalloc.simulator import Simulator

TABLES = ("bufferinfo.csv", "scheduleinfo.csv", "allocinfo.csv")
HEADS = ("buffers", "benefits", "roles", "XLA", "slow", "gain", "true gain", "map")
LEGEND = """\
Shares of the full reading: buffers that may be in fast memory; the printed benefits
that come out again; accesses that do the same (read, update in place, write whole).
XLA: violations of the compiler's answer. slow: all-slow time over that of the full
reading; gain: all-slow time over that of the compiler's answer, by the tables and
truly. map: the gain, in the full reading, of the map found by the tables; 0 if it is
not valid there."""


@dataclass(frozen=True, slots=True)
class Row:
    """One program."""

    name: str
    buffers: float
    benefits: float
    roles: float
    violations: int
    slow: float
    gain: float
    true_gain: float
    map_gain: float


def by_tables(folder: Path) -> Problem:
    """The problem of a folder that has the tables only."""
    with tempfile.TemporaryDirectory() as place:
        bare = Path(place) / folder.name
        bare.mkdir()
        for table in TABLES:
            shutil.copy(folder / f"{table}.gz", bare)
        return read_problem(bare)


def compare(folder: Path, strategy: str, time_limit: float) -> Row:
    """Read a folder both ways."""
    full, bare = read_problem(folder), by_tables(folder)
    assert full.compiler_map is not None
    assert bare.compiler_map is not None
    listed = {buffer.name for buffer in bare.program.buffers}
    eligible = [x.name for x in full.program.buffers if x.memory == "any"]
    roles = _accesses(full)
    agreeing = sum(roles.get(x) == what for x, what in _accesses(bare).items())
    found = solve(replace(bare, compiler_map=None), strategy, time_limit=time_limit)
    true, guessed = Simulator(full), Simulator(bare)
    return Row(
        folder.name,
        sum(name in listed for name in eligible) / len(eligible),
        _benefits(folder, bare),
        agreeing / sum(name in listed for name, _ in roles),
        len(check(bare, bare.compiler_map)),
        guessed.slow_s / true.slow_s,
        guessed.slow_s / guessed.simulate(bare.compiler_map).time_s,
        true.slow_s / true.simulate(full.compiler_map).time_s,
        _gain(found.map, bare, full, true),
    )


def _accesses(problem: Problem) -> dict[tuple[str, int], tuple[bool, bool]]:
    """By buffer and instruction, whether an access writes, and the whole of it."""
    return {
        (problem.program.buffers[a.buffer].name, t): (a.writes, a.whole)
        for t, instruction in enumerate(problem.program.instructions)
        for a in instruction.accesses
    }


def _benefits(folder: Path, bare: Problem) -> float:
    """Seconds saved at single accesses, over those that the compiler printed."""
    slow, fast = bare.target.slow.read_bandwidth, bare.target.fast.read_bandwidth
    rows = {x.buffer_id: x for x in read_buffer_rows(folder / "bufferinfo.csv.gz")}
    printed = sum(max(0.0, x.benefit) * math.sqrt(x.size) for x in rows.values())
    moved = sum(
        access.write_bytes if access.whole else access.read_bytes
        for instruction in bare.program.instructions
        if not instruction.compute_s
        for access in instruction.accesses
    )
    return moved * (1 / slow - 1 / fast) / printed if printed else 1.0


def _gain(
    found: MemoryMap | None, bare: Problem, full: Problem, true: Simulator
) -> float:
    """All-slow time over that of a map found by the tables; 0 if it is not valid."""
    if found is None:
        return 0.0
    index = full.program.buffer_index
    moved = MemoryMap(
        tuple(
            replace(x, buffer=index[bare.program.buffers[x.buffer].name])
            for x in found.allocations
        )
    )
    return 0.0 if check(full, moved) else true.slow_s / true.simulate(moved).time_s


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each program, and means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="+", type=Path)
    parser.add_argument("--strategy", default="greedy")
    parser.add_argument("--time-limit", type=float, default=10.0)
    chosen = parser.parse_args(arguments)
    table = new_table([f"roofline; {chosen.strategy}"], HEADS)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        for folder in chosen.workloads:
            row = compare(folder, chosen.strategy, chosen.time_limit)
            rows.append(row)
            table.add_row(
                row.name,
                *(f"{x:.1%}" for x in (row.buffers, row.benefits, row.roles)),
                f"{row.violations}",
                *(f"{x:.3f}" for x in (row.slow, row.gain, row.true_gain)),
                f"{row.map_gain:.3f}",
            )
    console = Console()
    console.print(table)
    console.print(summary(rows), highlight=False)
    console.print(LEGEND, highlight=False, soft_wrap=True)


def summary(rows: Sequence[Row]) -> str:
    """Means over the programs: geometric of the gains, arithmetic of the shares."""
    valid = [row for row in rows if row.map_gain]
    shares = {
        name: sum(getattr(row, name) for row in rows) / len(rows)
        for name in ("buffers", "benefits", "roles")
    }
    return (
        f"{len(rows)} programs: XLA's answer valid in "
        f"{sum(not row.violations for row in rows)}; map valid in {len(valid)}, there "
        f"gain {geometric_mean(x.map_gain for x in valid):.3f}, "
        f"XLA {geometric_mean(x.true_gain for x in valid):.3f}; mean shares: "
        + ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
    )


if __name__ == "__main__":
    main()
