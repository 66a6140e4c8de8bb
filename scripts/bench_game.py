"""Measure mallocGame: its speed, what playback loses, and what rewards tell."""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from scipy.stats import pearsonr, spearmanr

from hybridalloc import solve
from hybridalloc.arrays import Floats
from hybridalloc.baselines.play.episodes import Player
from hybridalloc.baselines.play.greedy_play import GreedyPlayConfig, GreedyPlayer
from hybridalloc.baselines.play.random_play import RandomPlayer
from hybridalloc.game import Game, GameConfig
from hybridalloc.game.fast import FastGame
from hybridalloc.game.observation import Observer
from hybridalloc.game.playback import playback as play_back
from hybridalloc.game.rewards import RewardKind, saved_s, score_of
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import CostModel, Problem
from hybridalloc.report.records import geometric_mean
from hybridalloc.report.tables import new_table, simulated
from hybridalloc.simulator import Simulator

CONFIGS = {
    "default": GameConfig(),
    "waits": GameConfig(waits=True),
    "shifts": GameConfig(shifts=True),
    "both": GameConfig(waits=True, shifts=True),
}
Correlation = tuple[str, str, float, float]
"""A reward, a time saved, and how both correlate: Pearson's and Spearman's."""


def steps_a_second(game: FastGame, seconds: float) -> float:
    """Random legal actions, with masks, that one core makes in a second."""
    random, made = np.random.default_rng(0), 0
    game.begin().play_randomly(random, len(game.game.steps))  # compiles
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        made += game.begin().play_randomly(random, len(game.game.steps))
    return made / (time.perf_counter() - begin)


def copy_us(game: FastGame) -> float:
    """Microseconds to copy the end of a random game."""
    end, other = game.begin(), game.begin()
    end.play_randomly(np.random.default_rng(0), len(game.game.steps))
    return 1e6 * min(timeit.repeat(lambda: end.copy_to(other), number=100)) / 100


def decisions_a_second(game: FastGame, seconds: float) -> float:
    """Decisions that the greedy player makes in a second."""
    player, position, made = GreedyPlayer(game, saved_s), game.begin(), 0
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        if position.is_terminal:
            position = game.begin()
        position = player.advance(position)
        made += 1
    return made / (time.perf_counter() - begin)


def observations_a_second(game: FastGame, seconds: float) -> float:
    """Observations that are made in a second during random games, steps not counted."""
    observer, random = Observer(game), np.random.default_rng(0)
    position, made, spent = game.begin(), 0, 0.0
    observer.observe(position)  # compiles
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        if position.play_randomly(random, 1) == 0 or position.is_terminal:
            position = game.begin()
        begin = time.perf_counter()
        observer.observe(position)
        spent += time.perf_counter() - begin
        made += 1
    return made / spent


def show_speeds(
    problems: Mapping[str, Problem], config: GameConfig, seconds: float
) -> Table:
    """A line for each program: how fast its game is."""
    heads = ("T", "steps", "steps/s", "copy, us", "greedy/s", "observations/s")
    table = new_table(["one core"], heads)
    for name, problem in problems.items():
        game = FastGame(Game(problem, config))
        if not game.game.steps:
            continue
        table.add_row(
            name,
            f"{len(problem.program)}",
            f"{len(game.game.steps)}",
            f"{steps_a_second(game, seconds):,.0f}",
            f"{copy_us(game):.1f}",
            f"{decisions_a_second(game, seconds):,.0f}",
            f"{observations_a_second(game, seconds):,.0f}",
        )
    return table


def map_of(problem: Problem, strategy: str, limit: float) -> MemoryMap | None:
    """The compiler's map (``input``), or that of a strategy."""
    if strategy == "input":
        return problem.compiler_map
    return solve(replace(problem, compiler_map=None), strategy, time_limit=limit).map


def losses(problem: Problem, memory_map: MemoryMap) -> Iterator[float]:
    """Under each config, the time of the map played back over the map's own."""
    seconds = Simulator(problem).simulate(memory_map).time_s
    for config in CONFIGS.values():
        end = play_back(FastGame(Game(problem, config)), memory_map)
        yield end.time_s / seconds


def show_playback(
    problems: Mapping[str, Problem], strategy: str, limit: float
) -> Table:
    """A line for each program: what its map loses when it is played back."""
    table, rows = new_table([f"{strategy}, played back"], tuple(CONFIGS)), []
    for name, problem in problems.items():
        memory_map = map_of(problem, strategy, limit)
        if memory_map is not None:
            rows.append(list(losses(problem, memory_map)))
            table.add_row(name, *(f"{x:.4f}" for x in rows[-1]))
    means = [geometric_mean(column) or 1.0 for column in zip(*rows, strict=True)]
    table.add_row(f"geometric mean ({len(rows)})", *(f"{x:.4f}" for x in means))
    table.add_row("largest", *(f"{max(x):.4f}" for x in zip(*rows, strict=True)))
    return table


def random_player(_: FastGame) -> Player:
    """Takes random legal actions."""
    return RandomPlayer(np.random.default_rng(0))


def greedy_player(game: FastGame) -> Player:
    """Greedy, with some decisions drawn."""
    return GreedyPlayer(game, saved_s, GreedyPlayConfig().draws, Random(0))


PLAYERS: Mapping[str, Callable[[FastGame], Player]] = {
    "random": random_player,
    "greedy": greedy_player,
}


def under_models(problem: Problem) -> list[Problem]:
    """The problem under roofline, and under cycles if it has estimates."""
    models = [CostModel.ROOFLINE]
    if problem.has_estimates:
        models.append(CostModel.CYCLES)
    return [replace(problem, cost_model=model) for model in models]


def returns(problem: Problem, name: str, count: int) -> dict[str, Floats]:
    """For each reward of each cost model, the returns of some episodes.

    The episodes are played under the problem's own cost model.
    """
    game = FastGame(Game(problem))
    columns: dict[str, list[float]] = {}
    judges = [
        (x.cost_model, Simulator(x), score_of(RewardKind.BENEFIT, Game(x)))
        for x in under_models(problem)
    ]
    player = PLAYERS[name](game)
    for _ in range(count):
        end = game.begin()
        while not end.is_terminal:
            end = player.advance(end)
        memory_map = end.memory_map()
        for model, simulator, benefit in judges:
            saved = simulator.slow_s - simulator.simulate(memory_map).time_s
            columns.setdefault(f"time, {model}", []).append(saved)
            columns.setdefault(f"benefit, {model}", []).append(benefit(end))
    return {reward: np.array(values) for reward, values in columns.items()}


def correlations(found: Mapping[str, Floats]) -> Iterator[Correlation]:
    """Each reward with each time saved.

    Two times are compared once, and what is the same in all episodes is left out.
    """
    times = [name for name in found if name.startswith("time")]
    for reward, values in found.items():
        for saved in times:
            constant = np.ptp(values) == 0 or np.ptp(found[saved]) == 0
            if (reward not in times or reward > saved) and not constant:
                pearson = pearsonr(values, found[saved]).statistic
                spearman = spearmanr(values, found[saved]).statistic
                yield reward, saved, float(pearson), float(spearman)


def show_rewards(problems: Mapping[str, Problem], count: int) -> Table:
    """A line for each player, reward and time: the mean correlation over programs."""
    heads = ("programs", "Pearson", "least", "Spearman", "least")
    table = new_table(["player", "return", "simulated time saved"], heads)
    rows: dict[tuple[str, str, str], list[list[float]]] = {}
    for problem in problems.values():
        by_player = {name: returns(problem, name, count) for name in PLAYERS}
        each = list(by_player.values())
        pooled = {x: np.concatenate([y[x] for y in each]) for x in each[0]}
        for player, found in {**by_player, "both": pooled}.items():
            for reward, saved, *both in correlations(found):
                rows.setdefault((player, reward, saved), []).append(both)
    for key, values in rows.items():
        pearson, spearman = np.array(values).T
        table.add_row(*key, f"{len(values)}", *describe(pearson), *describe(spearman))
    return table


def describe(values: Floats) -> tuple[str, str]:
    """The mean and the least."""
    return f"{values.mean():.3f}", f"{values.min():.3f}"


def read(paths: Sequence[Path], cost_model: CostModel) -> dict[str, Problem]:
    """The programs by name; those that carry no estimates are left out of cycles."""
    found = {path.name: read_problem(path) for path in paths}
    return {
        name: replace(problem, cost_model=cost_model)
        for name, problem in found.items()
        if cost_model is CostModel.ROOFLINE or problem.has_estimates
    }


def main(
    workloads: list[Path],
    cost_model: CostModel = CostModel.ROOFLINE,
    playback: Annotated[
        str, typer.Option(help="Play back the maps of a strategy, or the input's.")
    ] = "",
    time_limit: Annotated[float, typer.Option(help="Seconds of the strategy.")] = 60,
    rewards: Annotated[
        int, typer.Option(help="Correlate the returns of so many episodes a player.")
    ] = 0,
    seconds: Annotated[float, typer.Option(help="Of each measurement of speed.")] = 2,
    config: Annotated[
        str, typer.Option(help=f"Whose speed: {', '.join(CONFIGS)}.")
    ] = "default",
) -> None:
    """Measure the game on each workload."""
    problems = read(workloads, cost_model)
    console = Console(width=120, highlight=False, soft_wrap=True)
    target = ", ".join(sorted({x.target.name for x in problems.values()}))
    console.print(simulated(cost_model, target))
    if playback:
        console.print(show_playback(problems, playback, time_limit))
    elif rewards:
        console.print(show_rewards(problems, rewards))
    else:
        console.print(show_speeds(problems, CONFIGS[config], seconds))


if __name__ == "__main__":
    typer.run(main)
