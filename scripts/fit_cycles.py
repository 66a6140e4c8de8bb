"""Fit the learned cost model to workload folders, and see how well it predicts others.

Each program is predicted by weights fitted to the programs whose names begin with other
letters: `unet_seg_d2` tells nothing of `unet_seg_d4`. The figures compare with the
compiler's estimates of cycles; the weights that `--out` writes are fitted to all
programs: those of the package are in `hybridalloc/learned/coefficients.json`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.console import Console
from scipy.stats import spearmanr

from hybridalloc import solve
from hybridalloc.cost_model import elapsed
from hybridalloc.io.files import write_text
from hybridalloc.io.read import read_problem
from hybridalloc.learned.fitting import fit
from hybridalloc.learned.prediction import (
    Coefficients,
    dumps,
    predict,
)
from hybridalloc.problem import CostModel, Problem
from hybridalloc.report.tables import new_table
from hybridalloc.simulator import Simulator

BYTES_ONLY = ("one", "read", "write", "slow_read", "slow_write")
HEADS = ("time r", "error", "saving r", "within", "error", "run r", "error", "gain r")
LEGEND = """\
Against the compiler's estimates of cycles, of programs that were not fitted to:
time: of each instruction at each observed placement; saving: of the placement that the
compiler chose, against everything in slow memory; run: simulated time of the program,
with everything in slow memory and with the compiler's map; gain: one over the other.
r: Spearman's rank correlation (within: of the savings, the mean over programs); error:
the mean relative error, of savings the sum of errors over the sum of savings."""


@dataclass(frozen=True, slots=True)
class Quality:
    """A model's seconds beside the compiler's, (values, 2)."""

    times: list[tuple[float, float]]
    savings: list[list[tuple[float, float]]]
    """By program."""
    runs: list[tuple[float, float]]
    gains: list[tuple[float, float]]


def learned(problem: Problem, coefficients: Coefficients) -> Problem:
    """The problem with predicted estimates in place of the compiler's."""
    program = problem.program
    predicted = predict(program, problem.target, coefficients)
    instructions = tuple(
        replace(instruction, observations=seen)
        for instruction, seen in zip(program.instructions, predicted, strict=True)
    )
    return replace(problem, program=replace(program, instructions=instructions))


def name_family(problem: Problem) -> str:
    """The letters that the program's name begins with."""
    return re.split(r"[^a-z]", problem.program.name.lower())[0]


def unseen(
    problems: Sequence[Problem], fitted: Callable[[Sequence[Problem]], Coefficients]
) -> list[Problem]:
    """Each problem as weights see it that were fitted to the other families."""
    weights = {
        name: fitted([x for x in problems if name_family(x) != name])
        for name in dict.fromkeys(map(name_family, problems))
    }
    return [learned(x, weights[name_family(x)]) for x in problems]


def quality(problems: Sequence[Problem], models: Sequence[Problem]) -> Quality:
    """Compare each problem with what a model makes of it."""
    found = Quality([], [], [], [])
    for problem, model in zip(problems, models, strict=True):
        savings = []
        for t, instruction in enumerate(problem.program.instructions):
            placements = [seen.fast for seen in instruction.observations]
            pairs = [(elapsed(model, t, x), elapsed(problem, t, x)) for x in placements]
            found.times.extend(pairs)
            if len(pairs) > 1 and not placements[0]:
                (slow, true_slow), (fast, true_fast) = pairs[:2]
                savings.append((slow - fast, true_slow - true_fast))
        found.savings.append(savings)
        ours, true = _runs(model), _runs(problem)
        found.runs.extend(zip(ours, true, strict=True))
        found.gains.append((ours[0] / ours[1], true[0] / true[1]))
    return found


def _runs(problem: Problem) -> tuple[float, float]:
    simulator = Simulator(problem)
    if problem.compiler_map is None:
        raise ValueError(f"{problem.program.name}: expected the compiler's own answer")
    return simulator.slow_s, simulator.simulate(problem.compiler_map).time_s


def cells(found: Quality) -> Iterator[str]:
    """The figures of one model, in the order of ``HEADS``."""
    savings = [pair for pairs in found.savings for pair in pairs]
    within = [_rank(pairs) for pairs in found.savings if len(pairs) > 1]
    predicted, true = np.array(savings).T
    yield f"{_rank(found.times):.3f}"
    yield f"{_error(found.times):.1%}"
    yield f"{_rank(savings):.3f}"
    yield f"{np.nanmean(within):.3f}"
    yield f"{abs(predicted - true).sum() / abs(true).sum():.0%}"
    yield f"{_rank(found.runs):.3f}"
    yield f"{_error(found.runs):.1%}"
    yield f"{_rank(found.gains):.3f}"


def _rank(pairs: Sequence[tuple[float, float]]) -> float:
    """Spearman's rank correlation; of what is all alike there is none."""
    columns = np.array(pairs).T
    if any(np.ptp(column) == 0 for column in columns):
        return float("nan")
    return float(spearmanr(*columns).statistic)


def _error(pairs: Sequence[tuple[float, float]]) -> float:
    predicted, true = np.array(pairs).T
    return float(np.mean(abs(predicted - true) / true))


def found(
    problems: Sequence[Problem],
    models: Sequence[Problem],
    strategy: str,
    limit_s: float,
) -> float:
    """The gain, by the compiler's estimates, of the maps found under a model."""
    gains = []
    for problem, model in zip(problems, models, strict=True):
        result = solve(replace(model, compiler_map=None), strategy, time_limit=limit_s)
        simulator = Simulator(problem)
        time_s = simulator.slow_s
        if result.map is not None:
            time_s = simulator.simulate(result.map).time_s
        gains.append(simulator.slow_s / time_s)
    return float(np.exp(np.mean(np.log(gains))))


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, print the quality, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="+", type=Path, help="folders with cycles")
    parser.add_argument("--out", type=Path, help="a file for the weights")
    parser.add_argument("--strategy", help="also search under each model")
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds each")
    chosen = parser.parse_args(arguments)
    problems = [read_problem(x, cost_model=CostModel.CYCLES) for x in chosen.workloads]
    models = {name: seen(problems) for name, seen in MODELS.items()}
    table = new_table([f"{len(problems)} programs"], HEADS)
    for name, model in models.items():
        table.add_row(name, *cells(quality(problems, model)))
    console = Console()
    console.print(table)
    console.print(LEGEND, highlight=False, soft_wrap=True)
    if chosen.strategy:
        xla = [_runs(problem) for problem in problems]
        gain = float(np.exp(np.mean([np.log(slow / fast) for slow, fast in xla])))
        console.print(f"gain by cycles of maps: the compiler's {gain:.3f}")
        for name, model in {**models, "cycles": problems}.items():
            gain = found(problems, model, chosen.strategy, chosen.time_limit)
            console.print(f"{chosen.strategy} under {name}: {gain:.3f}")
    if chosen.out:
        write_text(chosen.out, dumps(fit(problems)))


def plain(problems: Sequence[Problem]) -> list[Problem]:
    """The problems with all instructions of one kind."""
    return [
        replace(
            problem,
            program=replace(
                problem.program,
                instructions=tuple(
                    replace(x, kind="") for x in problem.program.instructions
                ),
            ),
        )
        for problem in problems
    ]


MODELS: dict[str, Callable[[Sequence[Problem]], list[Problem]]] = {
    "roofline": lambda x: [replace(y, cost_model=CostModel.ROOFLINE) for y in x],
    "linear in bytes": lambda x: unseen(x, lambda y: fit(plain(y), BYTES_ONLY)),
    "learned, one kind": lambda x: unseen(x, lambda y: fit(plain(y))),
    "learned": lambda x: unseen(x, fit),
}
"""What each model makes of problems, none of them fitted to."""


if __name__ == "__main__":
    main()
