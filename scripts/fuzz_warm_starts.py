"""Give strategies random valid maps to start from: none may end with a worse one.

Problems are small random ones, as the tests draw them, and in turn the given programs,
on targets with other amounts of fast memory, under any cost model that they allow. The
start is a map of ``random`` or of a heuristic, sometimes without some of its buffers.
It is given to a random strategy or composition, for a short time or few iterations;
sometimes only robust or expressible maps count. The answer must be valid, in time, and
no slower than the start by the simulator, and its history must begin with the start.
The first fault ends it with an error.
"""

from __future__ import annotations

import math
import runpy
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from hybridalloc.checker import check
from hybridalloc.expressible import deviations, project
from hybridalloc.incumbents import WARM_START
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import MemoryMap
from hybridalloc.objective import MODELS
from hybridalloc.pins import is_pinned, pinned
from hybridalloc.problem import CostModel, Problem
from hybridalloc.registry import STRATEGIES
from hybridalloc.report.tables import counts_table
from hybridalloc.simulator import simulate
from hybridalloc.solver import Result
from hybridalloc.solving import solve
from hybridalloc.target import MIB

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "examples" / "workloads", ROOT.parent / "shared" / "workloads")
SMALL = runpy.run_path(str(ROOT / "tests" / "small_problems.py"))
SIZES = (SMALL["Sizes"](), SMALL["Sizes"](buffers=9, instructions=24, loops=5))
FEW = 4
"""Of so many problems one is a given program."""
TINY = 6
"""Instructions, the most for ``brute-force``."""
CAPACITIES = (128, 64, 24, 8, 2)
"""MiB of fast memory."""
STARTS = ("random", "random", "random", "greedy", "msa", "belady", "knapsack")
"""Whose map is the start."""
TIMES_S = (0.0, 0.02, 0.1, 0.3, 1.0)
"""Limits of time."""
MOST_LATE_S = 10.0
"""Of an answer, on a machine with other work."""
ITERATIONS = (None, None, None, 0, 1, 3, 30)
COMPOSITIONS = (
    "{0}>{1}",
    "best({0},{1}@30%)",
    "first({0},{1})",
    "together({0},{1})",
    "{0}@20%>({1}>{2})@50%",
    "best({0}@50ms,{1})>{2}",
)


class Fault(Exception):
    """What should not have come of a warm start."""


@dataclass(frozen=True, slots=True)
class Case:
    """A strategy with a start."""

    name: str
    """Where the problem comes from."""
    problem: Problem
    start: MemoryMap
    """A valid map."""
    strategy: str
    options: Mapping[str, Any]
    """Of ``solve()``."""

    @property
    def kind(self) -> str:
        """The strategy, or that it is a composition."""
        return self.strategy if self.strategy in STRATEGIES else "compositions"

    @property
    def models(self) -> tuple[CostModel, ...]:
        """Those under which no answer may be slower than the start."""
        own = self.problem.cost_model
        if not self.options["robust"]:
            return (own,)
        return (MODELS[0], own) if own is CostModel.LEARNED else MODELS

    def __str__(self) -> str:
        what = f"{self.name}, {self.problem.cost_model}, {self.problem.target.capacity}"
        return f"{what} bytes, {self.strategy}, {dict(self.options)}"


@dataclass(slots=True)
class Tally:
    """What has been seen."""

    cases: int = 0
    small: int = 0
    """With a small random problem."""
    faster: int = 0
    """Whose answer is better than its start."""
    robust: int = 0
    expressible: int = 0
    late_s: float = 0.0
    """By how many seconds an answer came after its time, at most."""

    def add(self, other: Tally) -> None:
        """Count what has been seen elsewhere."""
        for name in (x.name for x in fields(self)):
            ours, theirs = getattr(self, name), getattr(other, name)
            total = max(ours, theirs) if name == "late_s" else ours + theirs
            setattr(self, name, total)


def workloads() -> list[Path]:
    """The examples and the full set beside the project, each program once."""
    found = [x for y in FOLDERS if y.is_dir() for x in sorted(y.iterdir())]
    return list({x.name: x for x in found if x.is_dir()}.values())


def cases(paths: Sequence[Path], seed: int, begin: int) -> Iterator[tuple[int, Case]]:
    """Cases without end but those without a start, each with its number.

    A number's case is the same again, where the clock does not end the start's search.
    """
    read = cache(read_problem)
    for number in count(begin):
        random = np.random.default_rng((seed, number))
        name = "small"
        if number % FEW:
            problem = small_problem(random)
        else:
            path = paths[number // FEW % len(paths)]
            name, problem = path.name, varied(read(path), random)
        start = drawn_start(problem, random)
        if start is not None:
            drawn = drawn_strategy(problem, random), drawn_options(problem, random)
            yield number, Case(name, problem, start, *drawn)


def small_problem(random: np.random.Generator) -> Problem:
    """A random one, as the tests draw them; prefetches may be sliced."""
    sizes = SIZES[random.integers(len(SIZES))]
    problem: Problem = SMALL["small_problem"](int(random.integers(10**6)), sizes)
    engine = replace(problem.target.copy_engine, max_slices=int(random.integers(1, 5)))
    return under_some_model(
        replace(problem, target=replace(problem.target, copy_engine=engine)), random
    )


def varied(problem: Problem, random: np.random.Generator) -> Problem:
    """A program with some other amount of fast memory."""
    capacity = int(random.choice(CAPACITIES)) * MIB
    return under_some_model(problem.with_capacity(capacity), random)


def under_some_model(problem: Problem, random: np.random.Generator) -> Problem:
    """The problem under one of the cost models that it allows."""
    models = [x for x in CostModel if x != "cycles" or problem.has_estimates]
    return replace(problem, cost_model=models[random.integers(len(models))])


def drawn_start(problem: Problem, random: np.random.Generator) -> MemoryMap | None:
    """A valid map, if one is found; sometimes some buffers of it."""
    name, seed = STARTS[random.integers(len(STARTS))], int(random.integers(1000))
    found = solve(problem, name, time_limit=1, iterations=2, seed=seed).map
    if found is None or random.random() < 0.6:
        return found
    program, share = problem.program, random.random()
    kept = [
        is_pinned(program, buffer) or random.random() < share
        for buffer in range(len(program.buffers))
    ]
    return MemoryMap(tuple(x for x in found.allocations if kept[x.buffer]))


def drawn_strategy(problem: Problem, random: np.random.Generator) -> str:
    """One of the strategies, or a composition of some."""
    names = [x for x in STRATEGIES if may_solve(x, problem)]
    if random.random() < 0.3:
        text = COMPOSITIONS[random.integers(len(COMPOSITIONS))]
        return text.format(*random.choice(names, 3))
    return str(random.choice(names))


def may_solve(name: str, problem: Problem) -> bool:
    """Whether a strategy is meant for a problem."""
    if name == "replay":
        answer = problem.compiler_map
        return answer is not None and not check(problem, answer)
    return name != "brute-force" or len(problem.program) <= TINY


def drawn_options(problem: Problem, random: np.random.Generator) -> dict[str, Any]:
    """Little time or few iterations, some workers, and which maps count."""
    may_be_robust = problem.has_estimates or problem.cost_model is CostModel.LEARNED
    return {
        "time_limit": TIMES_S[random.integers(len(TIMES_S))],
        "iterations": ITERATIONS[random.integers(len(ITERATIONS))],
        "seed": int(random.integers(1000)),
        "workers": int(random.integers(1, 4)),
        "robust": bool(may_be_robust and random.random() < 0.3),
        "expressible": bool(random.random() < 0.2 and not pinned(problem.program)),
    }


def attempt(case: Case) -> Tally:
    """Have a case solved, and judge the answer.

    Raises:
        Fault: There is one.
    """
    result = solve(case.problem, case.strategy, warm_start=case.start, **case.options)
    if fault := judge(case, result):
        raise Fault(fault)
    return Tally(
        cases=1,
        small=int(case.name == "small"),
        faster=int(len(result.history) > 1),
        robust=int(case.options["robust"]),
        expressible=int(case.options["expressible"]),
        late_s=max(0.0, result.runtime - case.options["time_limit"]),
    )


def judge(case: Case, result: Result) -> str:
    """The first fault of an answer; nothing if there is none."""
    problem, start = case.problem, case.start
    if case.options["expressible"]:
        problem = problem.restricted()
        start = project(problem, start)
    if result.map is None:
        return "no map"
    if result.runtime > case.options["time_limit"] + MOST_LATE_S:
        return f"after {result.runtime:.1f} s"
    first = result.history[0]
    if (first.found_by, first.map) != (WARM_START, start):
        return "the history does not begin with the warm start"
    if violations := check(problem, result.map):
        return f"invalid: {violations[0]}"
    if problem.expressible and (others := deviations(problem, result.map)):
        return f"not expressible: {others[0]}"
    for model in case.models:
        judged = replace(problem, cost_model=model)
        start_s = simulate(judged, start).time_s
        time_s = simulate(judged, result.map).time_s
        if time_s > start_s:
            return f"{time_s} s under {model}, the warm start {start_s} s"
        if model is problem.cost_model and time_s != result.time:
            return f"{time_s} s, called {result.time} s"
    return ""


def main(
    folders: Annotated[list[Path] | None, typer.Argument(metavar="[FOLDER]...")] = None,
    most: Annotated[int, typer.Option("--cases", help="How many.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of all that is drawn.")] = 0,
    begin: Annotated[int, typer.Option(help="The number of the first case.")] = 0,
    minutes: Annotated[float, typer.Option(help="No case begins later.")] = math.inf,
) -> None:
    """Try warm starts; by default of the examples and of the full set beside them."""
    paths, fault = folders or workloads(), ""
    tallies, total = dict[str, Tally](), Tally()
    last = time.monotonic() + 60 * minutes
    with Console(stderr=True).status("starting") as status:
        for number, case in cases(paths, seed, begin):
            if total.cases >= most or time.monotonic() > last:
                break
            status.update(f"{total.cases:,} of {most:,} cases; {number}: {case}")
            try:
                tally = attempt(case)
            except Fault as found:
                fault = f"case {number} of seed {seed}: {case}: {found}"
                break
            except Exception:
                print(f"case {number} of seed {seed}: {case}")
                raise
            tallies.setdefault(case.kind, Tally()).add(tally)
            total.add(tally)
    table = counts_table({**tallies, "all": total})
    Console(width=120, highlight=False).print(table)
    if fault:
        print(fault)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
