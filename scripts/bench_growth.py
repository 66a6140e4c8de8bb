"""Measure how reading, strategies and judges grow with the length of a program.

Each program is repeated until it has so many instructions, and each part gets a process
of its own. Prints Markdown: the seconds and the peak memory of each part, and the
exponent of its growth: 1 if it takes twice as long for twice as many instructions.
"""

from __future__ import annotations

import math
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from hybridalloc import solve
from hybridalloc.bounds import lower_bound
from hybridalloc.checker import check
from hybridalloc.compose import split
from hybridalloc.io.files import read_text
from hybridalloc.io.json_format import read_map, write_map, write_problem
from hybridalloc.io.read import read_problem
from hybridalloc.oracle import execute
from hybridalloc.problem import Problem
from hybridalloc.repetition import repeat
from hybridalloc.simulator import Simulator

HLO = "before_msa.hlo.gz"
"""The program's text in a workload folder."""
NAME = re.compile(r"%[\w.~-]+")
LIMIT_SHARE = 0.95
"""What takes this share of the time limit may have been cut short by it."""
LEGEND = (
    "Seconds of the processor, and GiB of the process at most, which first reads the "
    "problem; in brackets seconds by the clock, where the limit may have cut it short. "
    "*Growth*: the exponent, of what is not cut short. "
    "*Speed-up*: over everything in slow memory (simulated)."
)


@dataclass(frozen=True, slots=True)
class Figure:
    """What one part comes to at one length."""

    seconds: float
    """Of the processor, so that what else the machine does counts little."""
    wall_s: float
    """By the clock."""
    gib: float
    limited: bool = False
    """Whether the time limit may have cut it short."""
    speedup: float | None = None
    """Of a strategy: all-slow / simulated time."""
    first_s: float | None = None
    """Of a strategy: seconds until its first map faster than all-slow."""

    def __str__(self) -> str:
        clock = f" ({self.wall_s:.0f})" if self.limited else ""
        return f"{self.seconds:.2f}{clock} s, {self.gib:.2f} GiB"


@dataclass(frozen=True, slots=True)
class Files:
    """One program at one length."""

    problem: Path
    hlo: Path
    map: Path
    """What the first strategy finds."""


def gib() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def timed(work: Callable[[], object]) -> Figure:
    """How long some work takes, and the memory of this process after it."""
    begin, wall = time.process_time(), time.monotonic()
    work()
    return Figure(time.process_time() - begin, time.monotonic() - wall, gib())


def run_strategy(files: Files, strategy: str, limit: float, once: Path) -> Figure:
    """Solve the problem; the first map of all strategies is kept.

    Args:
        files: The program at one length.
        strategy: The text of a composition.
        limit: Seconds.
        once: The program by itself, solved first so that all is compiled.
    """
    solve(read_problem(once), strategy, time_limit=1.0)
    problem, found = read_problem(files.problem), []
    figure = timed(lambda: found.append(solve(problem, strategy, time_limit=limit)))
    result = found[0]
    assert result.map is not None
    assert result.time is not None
    if not files.map.exists():
        write_map(result.map, problem, files.map)
    slow_s = Simulator(problem).slow_s
    faster = (x.runtime for x in result.history if x.time < slow_s)
    return replace(
        figure,
        limited=figure.wall_s >= LIMIT_SHARE * limit,
        speedup=slow_s / result.time,
        first_s=next(faster, None),
    )


def run_bound(files: Files, limit: float) -> Figure:
    """Bound the problem."""
    problem = read_problem(files.problem)
    figure = timed(lambda: lower_bound(problem, time_limit=limit))
    return replace(figure, limited=figure.wall_s >= LIMIT_SHARE * limit)


def run_judge(files: Files, judge: str) -> Figure:
    """Judge the map of the first strategy; a complaint is a defect."""
    problem = read_problem(files.problem)
    memory_map = read_map(files.map, problem)
    judges: dict[str, Callable[[], object]] = {
        "checker": lambda: check(problem, memory_map),
        "oracle": lambda: execute(problem, memory_map),
        "simulator": lambda: Simulator(problem).simulate(memory_map),
    }
    Simulator(problem).simulate(memory_map)  # compiles
    found: list[object] = []
    figure = timed(lambda: found.append(judges[judge]()))
    if judge != "simulator" and found != [()]:
        raise RuntimeError(f"{files.problem}: {judge}: {found}")
    return figure


def read(path: Path) -> Figure:
    """Read a file."""
    return timed(lambda: read_problem(path))


def apart(work: Callable[..., Figure], *arguments: object) -> Figure:
    """Work in a process of its own, so that its memory is its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def repeat_hlo(text: str, times: int) -> str:
    """The text of a module whose entry runs so many times, with one set of parameters.

    All else is there once a repeat, the computations that are called included.
    """
    head, entry = text.split("\nENTRY ", 1)
    module, _, called = head.partition("\n")
    first, *body = entry.rstrip().removesuffix("}").rstrip().split("\n")
    parameters = [line for line in body if " parameter(" in line]
    steps = "\n".join(line for line in body if " parameter(" not in line)
    shared = {
        match.group() for line in parameters for match in [NAME.search(line)] if match
    }
    computations, runs = [], []
    for number in range(times):

        def renamed(match: re.Match[str], suffix: str = f".r{number}") -> str:
            return match.group() + ("" if match.group() in shared else suffix)

        computations.append(NAME.sub(renamed, called))
        run = NAME.sub(renamed, steps)
        runs.append(run if number == times - 1 else run.replace("ROOT ", ""))
    entry = "\n".join([f"ENTRY {first}", *parameters, *runs, "}\n"])
    return "\n".join([module, *computations, entry])


def write_files(problem: Problem, text: str | None, times: int, folder: Path) -> Files:
    """Write one program at one length."""
    made = Files(*(folder / f"{times}.{x}" for x in ("json", "hlo", "map.json")))
    long = replace(problem, program=repeat(problem.program, times), compiler_map=None)
    write_problem(long, made.problem)
    if text is not None:
        made.hlo.write_text(repeat_hlo(text, times), encoding="utf-8")
    return made


def measure(
    files: Files, once: Path, strategies: tuple[str, ...], limit: float
) -> Iterator[tuple[str, Figure]]:
    """Each part and what it comes to."""
    yield "read JSON", apart(read, files.problem)
    if files.hlo.exists():
        yield "read HLO", apart(read, files.hlo)
    for strategy in strategies:
        yield f"`{strategy}`", apart(run_strategy, files, strategy, limit, once)
    for judge in ("checker", "simulator", "oracle"):
        yield judge, apart(run_judge, files, judge)
    yield "bound", apart(run_bound, files, limit)


def growth(figures: dict[int, Figure]) -> str:
    """The slope of the logarithm of seconds over that of instructions."""
    whole = {n: x.seconds for n, x in figures.items() if not x.limited}
    if len(whole) < 2:
        return "-"
    lengths, seconds = np.log(list(whole)), np.log(list(whole.values()))
    return f"{np.polyfit(lengths, seconds, 1)[0]:.2f}"


def tell(line: str) -> None:
    """Say how far it is, if somebody watches."""
    if sys.stderr.isatty():
        print(line, file=sys.stderr)


def show(name: str, figures: dict[str, dict[int, Figure]]) -> None:
    """Print the tables of one program."""
    lengths = sorted({n for of_part in figures.values() for n in of_part})
    heads = [f"{n:,}" for n in lengths]
    print(f"\n| {name}: instructions | {' | '.join(heads)} | growth |")
    print("|---" * (1 + len(heads)) + "|---:|")
    for part, of_part in figures.items():
        cells = [str(of_part.get(n, "-")) for n in lengths]
        print(f"| {part} | {' | '.join(cells)} | {growth(of_part)} |")
    print(f"\n| {name}: speed-up, first map | {' | '.join(heads)} |")
    print("|---" * (1 + len(heads)) + "|")
    for part, of_part in figures.items():
        if any(x.speedup for x in of_part.values()):
            cells = [
                f"{x.speedup or math.nan:.4f}, {x.first_s or math.nan:.1f} s"
                for x in of_part.values()
            ]
            print(f"| {part} | {' | '.join(cells)} |")


def main(
    inputs: list[Path],
    sizes: Annotated[str, typer.Option(help="Least instructions.")] = "1000,10000",
    strategies: str = "msa,greedy,belady",
    time_limit: Annotated[float, typer.Option(help="Seconds of each strategy.")] = 60,
) -> None:
    """Measure each program at each size."""
    print(LEGEND)
    for path in inputs:
        problem, text = read_problem(path), None
        if (path / HLO).exists():
            text = read_text(path / HLO)
        figures: dict[str, dict[int, Figure]] = {}
        with tempfile.TemporaryDirectory() as folder:
            once = write_files(problem, None, 1, Path(folder)).problem
            for size in map(int, sizes.split(",")):
                times = math.ceil(size / len(problem.program))
                files = write_files(problem, text, times, Path(folder))
                for part, figure in measure(files, once, split(strategies), time_limit):
                    tell(f"{path.name} x {times}: {part}: {figure}")
                    figures.setdefault(part, {})[times * len(problem.program)] = figure
        show(path.name, figures)


if __name__ == "__main__":
    typer.run(main)
