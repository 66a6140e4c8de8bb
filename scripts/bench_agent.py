"""Measure whole games of the agent: what search, priors and Drop-backup are worth.

Each player plays the same number of games of each program from the first decision to
the last, without variations of a best one. Times are simulated.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Annotated

import numpy as np
import torch
import typer
from rich.console import Console

from hybridalloc.agents.muzero.adapting import adapted
from hybridalloc.agents.muzero.checkpoint import load_network
from hybridalloc.agents.muzero.deciding import Decider, PolicyDecider, SearchDecider
from hybridalloc.agents.muzero.models import GameModel, LearnedModel, ModelKind
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.play import play
from hybridalloc.agents.muzero.programs import Entry, prepare
from hybridalloc.agents.muzero.search import SearchConfig
from hybridalloc.agents.muzero.strategy import SHIPPED
from hybridalloc.agents.muzero.trajectory import Trajectory
from hybridalloc.game.heuristics import names_in
from hybridalloc.io.read import read_problem
from hybridalloc.problem import Problem
from hybridalloc.report.tables import new_table, simulated
from hybridalloc.simulator import Simulator


def players(
    network: Network,
    entries: Sequence[Entry],
    simulations: Sequence[int],
    priors: Sequence[float],
    seed: int,
) -> Iterator[tuple[str, Decider]]:
    """Who plays, by name: without search, with priors, and with search."""
    yield "policy", PolicyDecider(network, np.random.default_rng(seed))
    for prior in priors:
        random = np.random.default_rng(seed)
        yield f"policy, prior {prior:g}", PolicyDecider(network, random, prior)
    observing = Observing(network.config.observation)
    for kind in ModelKind:
        for count in simulations:
            model: LearnedModel | GameModel = LearnedModel(network)
            if kind is ModelKind.GAME:
                scales_s = {x.game: x.scale_s for x in entries}
                model = GameModel(network, observing, scales_s)
            random, search = np.random.default_rng(seed), SearchConfig(count)
            yield f"{kind}, {count}", SearchDecider(model, search, random)


def row(
    name: str, games: Sequence[Trajectory], entries: Sequence[Entry], spent_s: float
) -> tuple[str, ...]:
    """What the games of a player come to: means over programs, and shares of games."""
    mean, best, undone = [], [], 0
    for index, entry in enumerate(entries):
        mine = [x for x in games if x.entry == index]
        speed_ups = [reference_s(entry.problem) / x.time_s for x in mine]
        mean.append(geometric_mean(speed_ups))
        best.append(max(speed_ups))
        undone += sum(len(x) > len(entry.game.game.steps) for x in mine)
    decisions = sum(map(len, games))
    return (
        name,
        f"{geometric_mean(mean):.4f}",
        f"{geometric_mean(best):.4f}",
        f"{1e6 * spent_s / decisions:.0f} us",
        f"{undone} of {len(games)}",
    )


def reference_s(problem: Problem) -> float:
    """What XLA's own answer takes; everything in slow memory, if there is none."""
    simulator = Simulator(problem)
    if problem.compiler_map is None:
        return simulator.slow_s
    return simulator.simulate(problem.compiler_map).time_s


def main(
    workloads: list[Path],
    weights: Annotated[Path, typer.Option(help="The network.")] = SHIPPED,
    simulations: Annotated[str, typer.Option(help="Of searches.")] = "2,8,32",
    games: Annotated[int, typer.Option(min=1, help="Of each program.")] = 4,
    temperature: Annotated[float, typer.Option(min=0)] = 0.5,
    heuristics: Annotated[str, typer.Option(help="That may be followed.")] = "",
    priors: Annotated[str, typer.Option(help="Weights of their votes.")] = "",
    seed: int = 0,
) -> None:
    """Play whole games with and without search; print speed-ups over XLA's answers."""
    names = names_in(heuristics)
    network = adapted(load_network(weights), names)
    torch.set_num_threads(1)
    problems = [read_problem(x) for x in workloads]
    entries = [prepare(x, heuristics=names) for x in problems]
    observing = Observing(network.config.observation)
    table = new_table(["player"], ["mean", "best", "a decision", "with Drop-backup"])
    counts = [int(x) for x in simulations.split(",") if x]
    weighed = [float(x) for x in priors.split(",") if x]
    for name, player in players(network, entries, counts, weighed, seed):
        begin = time.perf_counter()
        indices = [i for i in range(len(entries)) for _ in range(games)]
        found = play(entries, indices, player, observing, temperature=temperature)
        table.add_row(*row(name, found, entries, time.perf_counter() - begin))
    console = Console()
    first = problems[0]
    console.print(simulated(first.cost_model.value, first.target.name))
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
