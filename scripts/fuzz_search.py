"""Make random moves of the local search, each judged by the simulator.

Walks from map to map, through small random problems, those that the tests know by name
and the given ones, under either cost model and under both at once. Every map that is
kept must take what the search believes; some are given to the checker and to the oracle
and put into new tables, and some tables are compared once a move is taken back. The
first difference ends it with an error; Ctrl-C, with the counts so far.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from hybridalloc.io.read import read_problem
from hybridalloc.objective import MODELS
from hybridalloc.problem import CostModel, Problem
from hybridalloc.report.tables import counts_table

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "workloads"
WALKS = runpy.run_path(str(ROOT / "tests" / "search_walks.py"))
"""What the tests watch moves with."""
SMALL = runpy.run_path(str(ROOT / "tests" / "small_problems.py"))
NAMED = runpy.run_path(str(ROOT / "tests" / "named_problems.py"))
SIZES = SMALL["Sizes"](buffers=9, instructions=24, loops=5)
SHARES = (0.003, 0.03, 0.3)
"""How often a walk keeps a move that gains nothing."""
WATCHED = 100
"""Of so many maps one is checked, and of so many tables one is compared."""
Source = tuple[str, Sequence[Problem], int]
"""A kind of problems; a problem, perhaps under several cost models; and for how many
moves."""


def small_problems(first_seed: int) -> Iterator[Source]:
    """Random problems without end, whose prefetches may be sliced."""
    for seed in count(first_seed):
        problem = SMALL["small_problem"](seed, SIZES)
        engine = replace(problem.target.copy_engine, max_slices=1 + seed % 4)
        target = replace(problem.target, copy_engine=engine)
        yield "random", under_models(replace(problem, target=target), seed), 3000


def named_problems() -> Iterator[Source]:
    """Those of the tests, again and again."""
    for turn in count():
        for problem in NAMED["NAMED"].values():
            observed = turn % 3 > 0
            given = NAMED["observed"](problem) if observed else problem
            yield "named", under_models(given, turn), 1000


def given_problems(paths: Sequence[Path]) -> Iterator[Source]:
    """These, again and again."""
    problems = [read_problem(path) for path in paths]
    for turn in count():
        for problem in problems:
            yield problem.program.name, under_models(problem, turn), 5000


def under_models(problem: Problem, turn: int) -> list[Problem]:
    """The problem under one cost model or the other or both, by turns."""
    if not problem.has_estimates:
        return [replace(problem, cost_model=CostModel.ROOFLINE)]
    models: Sequence[CostModel] = (MODELS[:1], MODELS[1:], MODELS)[turn % 3]
    return [replace(problem, cost_model=model) for model in models]


def in_turn(*sources: Iterator[Source]) -> Iterator[Source]:
    """One of each, again and again."""
    while True:
        yield from map(next, sources)


def walk(source: Source, seed: int) -> Any:
    """What a walk has seen: a ``Tally``."""
    name, problems, moves = source
    random = np.random.default_rng(seed)
    habits = WALKS["Habits"](
        keep_others=float(random.choice(SHARES)),
        check_every=WATCHED,
        look_every=WATCHED,
    )
    walk = WALKS["walk_from_a_random_map"](problems, seed)
    if walk is None:  # pins that do not fit
        return WALKS["Tally"]()
    try:
        walk.make(moves, habits)
    except Exception:
        program = problems[0].program.name
        print(f"{name}: program {program}, walk {seed}, after {walk.tally}")
        raise
    return walk.tally


def main(
    problems: Annotated[
        list[Path] | None, typer.Argument(metavar="[PROBLEM]...")
    ] = None,
    moves: Annotated[int, typer.Option(help="About how many.")] = 100_000,
    seed: Annotated[int, typer.Option(help="Of all that is drawn.")] = 0,
) -> None:
    """Make random moves and compare; by default in the examples, too."""
    paths = problems or sorted(x for x in EXAMPLES.iterdir() if x.is_dir())
    sources = in_turn(small_problems(seed), named_problems(), given_problems(paths))
    tallies, total = dict[str, Any](), WALKS["Tally"]()
    with (
        Console(stderr=True).status("starting") as status,
        suppress(KeyboardInterrupt),
    ):
        for number, source in enumerate(sources, start=seed):
            tally = walk(source, number)
            tallies.setdefault(source[0], WALKS["Tally"]()).add(tally)
            total.add(tally)
            status.update(f"{total.moves:,} of {moves:,} moves")
            if total.moves >= moves:
                break
    table = counts_table({**tallies, "all": total})
    Console(width=120, highlight=False).print(table)


if __name__ == "__main__":
    typer.run(main)
