"""Print how closely msa agrees with XLA's own answers, or how it scales."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean, geometric_mean

import numpy as np
from rich.console import Console

from hybridalloc.arrays import Ints
from hybridalloc.baselines.msa import Msa
from hybridalloc.checker import check
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import MemoryMap, Origin
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import Buffer, Instruction, Loop, Program
from hybridalloc.report.tables import new_table
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Run
from hybridalloc.understanding.overlapping import Held, slow_clock

CLOSE = 2
"""How many instructions apart two prefetches may start and yet agree."""
HEADS = (
    "XLA, ms",
    "msa / XLA",
    "held",
    "held, s",
    "prefetches",
    "agree",
    "msa's",
    "solved, s",
)
NOTES = (
    "held: of XLA's allocated bytes x instructions, the share that msa holds too; "
    "held, s: by seconds, with everything in slow memory, instead",
    f"agree: of XLA's prefetches, the share of which msa prefetches the same buffer "
    f"from within {CLOSE} instructions of it on, counting those with accesses only",
)


@dataclass(frozen=True, slots=True)
class Row:
    """How msa's map of one program compares with XLA's."""

    name: str
    target: str
    inference: bool
    xla_s: float
    msa_s: float
    held: float
    """Share of XLA's bytes x instructions."""
    held_s: float
    """Share of XLA's bytes x seconds."""
    prefetches: int
    """XLA's, plain and in slices."""
    agreeing: int
    """Those of them that msa starts at about the same point."""
    msa_prefetches: int
    solved_s: float

    @property
    def ratio(self) -> float:
        """The time of msa's map over that of XLA's."""
        return self.msa_s / self.xla_s

    @property
    def agreement(self) -> float:
        """Share of XLA's prefetches."""
        return self.agreeing / self.prefetches if self.prefetches else 1.0


def is_inference(folder: Path) -> bool:
    """Whether a workload's description, or else its name, says nothing of training."""
    file = folder / "stats.json"
    stats = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return "train" not in f"{folder.name} {stats.get('source', '')}".lower()


def solve(problem: Problem) -> tuple[MemoryMap, float]:
    """The map of msa, and the seconds that it took."""
    begin = time.perf_counter()
    found = Msa().solve(replace(problem, compiler_map=None), Run()).map
    assert found is not None  # no buffer is pinned
    return found, time.perf_counter() - begin


def compare(folder: Path, cost_model: CostModel) -> Row:
    """Solve a workload, and compare the map with that of the compiler."""
    problem = read_problem(folder, cost_model=cost_model)
    xla = problem.compiler_map
    if xla is None:
        raise SystemExit(f"{folder}: no map of the compiler")
    found, solved_s = solve(problem)
    if violations := check(problem, found):
        raise SystemExit(f"{folder}: invalid map: {violations[0].message}")
    simulator = Simulator(problem)
    steps = range(len(problem.program) + 1)
    starts, others = (list(prefetches(problem.program, x)) for x in (xla, found))
    return Row(
        name=folder.name,
        target=problem.target.name,
        inference=is_inference(folder),
        xla_s=simulator.simulate(xla).time_s,
        msa_s=simulator.simulate(found).time_s,
        held=share_held(problem, xla, found, steps),
        held_s=share_held(problem, xla, found, slow_clock(problem)),
        prefetches=len(starts),
        agreeing=agreeing(starts, others),
        msa_prefetches=len(others),
        solved_s=solved_s,
    )


def share_held(
    problem: Problem, xla: MemoryMap, found: MemoryMap, clock: Sequence[float]
) -> float:
    """Of the bytes x time that one map holds, what the other does too.

    Args:
        problem: What both are maps of.
        xla: The one.
        found: The other.
        clock: (T+1,): the time at each point.
    """
    one, other = (Held(problem, x, clock) for x in (xla, found))
    return one.in_common(other) / one.byte_seconds if one.byte_seconds else 1.0


def prefetches(program: Program, memory_map: MemoryMap) -> Iterator[tuple[int, int]]:
    """The buffer of each prefetch, and how many instructions run before its start.

    What accesses nothing does not count: the compiler's own points are known only up
    to such instructions.
    """
    counted = [bool(x.accesses) for x in program.instructions]
    before: Ints = np.concatenate(([0], np.cumsum(counted)))
    for x in memory_map.allocations:
        if x.origin is Origin.PREFETCHED:
            yield x.buffer, int(before[x.start])


def agreeing(starts: Sequence[tuple[int, int]], others: list[tuple[int, int]]) -> int:
    """How many of the prefetches have another of the same buffer close by."""
    by_buffer: dict[int, list[int]] = defaultdict(list)
    for buffer, start in others:
        by_buffer[buffer].append(start)
    return sum(
        any(abs(start - x) <= CLOSE for x in by_buffer[buffer])
        for buffer, start in starts
    )


def show(rows: list[Row], cost_model: CostModel, console: Console) -> None:
    """A line for each program, then means, and the one that does worst."""
    targets = ", ".join(sorted({row.target for row in rows}))
    table = new_table([f"simulated: {cost_model}, {targets}"], HEADS)
    for row in rows:
        table.add_row(
            row.name,
            f"{1000 * row.xla_s:.3f}",
            f"{row.ratio:.4f}",
            f"{row.held:.3f}",
            f"{row.held_s:.3f}",
            f"{row.prefetches}",
            f"{row.agreement:.3f}",
            f"{row.msa_prefetches}",
            f"{row.solved_s:.2f}",
        )
    console.print(table)
    console.print()
    inference = [row for row in rows if row.inference]
    for what, some in (("all", rows), ("inference", inference)):
        if some:
            console.print(summary(what, some))
    worst = max(rows, key=lambda row: row.ratio)
    console.print(f"worst: {worst.ratio:.4f} ({worst.name})")
    for note in NOTES:
        console.print(note)


def summary(what: str, rows: list[Row]) -> str:
    """Means: geometric of the ratios, arithmetic of the shares."""
    total = sum(row.prefetches for row in rows)
    pooled = sum(row.agreeing for row in rows) / total if total else 1.0
    return (
        f"{what} ({len(rows)}): msa / XLA {geometric_mean(x.ratio for x in rows):.4f}, "
        f"held {fmean(x.held for x in rows):.3f}, "
        f"held, s {fmean(x.held_s for x in rows):.3f}, "
        f"agree {fmean(x.agreement for x in rows):.3f} "
        f"(of all prefetches together {pooled:.3f}), "
        f"solved in {math.fsum(x.solved_s for x in rows):.1f} s"
    )


def repeated(programs: Sequence[Program], least: int) -> Program:
    """The programs one after the other, again and again, until so many instructions."""
    instructions: list[Instruction] = []
    buffers: list[Buffer] = []
    loops: list[Loop] = []
    turn = 0
    while len(instructions) < least:
        program, now, base = (
            programs[turn % len(programs)],
            len(instructions),
            len(buffers),
        )
        loops += [
            replace(x, start=x.start + now, end=x.end + now) for x in program.loops
        ]
        buffers += [replace(x, name=f"{x.name}~{turn}") for x in program.buffers]
        for x in program.instructions:
            accesses = tuple(replace(a, buffer=a.buffer + base) for a in x.accesses)
            name = f"{x.name}~{turn}"
            instructions.append(
                replace(x, name=name, accesses=accesses, observations=())
            )
        turn += 1
    return Program("repeated", tuple(instructions), tuple(buffers), tuple(loops))


def show_scale(folders: list[Path], least: int, console: Console) -> None:
    """How long msa, the checker and the simulator take for one long program."""
    problems = [read_problem(folder) for folder in folders]
    program = repeated([x.program for x in problems], least)
    problem = Problem(program, problems[0].target)
    found, solved_s = solve(problem)
    console.print(
        f"{len(program)} instructions, {len(program.buffers)} buffers, "
        f"{len(found)} allocations: msa {solved_s:.1f} s"
    )
    judges: dict[str, Callable[[], object]] = {
        "checker": lambda: check(problem, found),
        "simulator": lambda: Simulator(problem).simulate(found),
    }
    for name, judge in judges.items():
        begin = time.perf_counter()
        said = judge()
        seconds = time.perf_counter() - begin
        verdict = f", {len(said)} violations" if isinstance(said, tuple) else ""
        console.print(f"{name} {seconds:.1f} s{verdict}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the arguments, and do what they say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--cost-model", type=CostModel, default=CostModel.ROOFLINE)
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument(
        "--repeat",
        type=int,
        metavar="N",
        help="repeat the programs to at least N instructions, and time them as one",
    )
    chosen = parser.parse_args(arguments)
    console = Console(width=120, highlight=False, soft_wrap=True)
    if chosen.repeat:
        show_scale(chosen.folders, chosen.repeat, console)
        return
    one = partial(compare, cost_model=chosen.cost_model)
    if chosen.workers > 1:
        with ProcessPoolExecutor(chosen.workers) as pool:
            rows = list(pool.map(one, chosen.folders))
    else:
        rows = [one(folder) for folder in chosen.folders]
    show(rows, chosen.cost_model, console)


if __name__ == "__main__":
    main()
