"""Play random games of real programs, the fast way, each judged at its end.

The rewards must sum to what the map saves by the simulator, the checker must find
nothing in it, and some maps are executed by the oracle. Games are drawn over the given
programs: how much fast memory, how many outstanding copies, the variant of the game,
whether heuristics may be followed, and how the player is biased; cost models take
turns. The first failure ends it with an error; Ctrl-C, with the counts so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from hybridalloc.arrays import Ints
from hybridalloc.checker import check
from hybridalloc.game import Action, Game, GameConfig
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.heuristics import consult
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import MemoryMap
from hybridalloc.oracle import execute
from hybridalloc.problem import CostModel, Problem
from hybridalloc.report.tables import counts_table
from hybridalloc.simulator import simulate
from hybridalloc.solver import Run
from hybridalloc.target import MIB, CopyEngine

ROOT = Path(__file__).parents[1]
FOLDERS = (
    ROOT / "examples" / "workloads",
    ROOT.parent / "shared" / "workloads",
)
BIASES = ((1, 1, 1), (3, 3, 1), (5, 2, 1), (1, 5, 1), (2, 1, 4))
"""How likely each action is, against the others; an episode of each game has each. To
follow a heuristic is as likely as an action of 1."""
FOLLOWED = 0.3
"""The share of the games in which heuristics may be followed."""
CAPACITIES = (128, 64, 24, 8, 2)
"""MiB of fast memory."""
LIMITS = (0, 1, 2, 40)
"""Of outstanding copies, in half of the games."""
MANY = 40
"""Outstanding evictions, in half of the games of long programs."""
LONG = 600
"""Instructions: where few evictions may be outstanding, there is ever more Drop-backup
the longer the program is."""
CLOSE = 1e-9
"""By which part of the time all in slow memory the sum of rewards may be off."""
EXECUTED = 50
"""Of so many maps one is executed."""


class Fault(Exception):
    """What should not have come of a game."""


@dataclass(slots=True)
class Tally:
    """What has been seen."""

    episodes: int = 0
    steps: int = 0
    loops: int = 0
    """Episodes whose map has something in fast memory in a loop or across one."""
    in_place: int = 0
    """Episodes whose map serves an update in place from fast memory."""
    donated: int = 0
    """Episodes with a buffer in fast memory that is an input and an output."""
    backups: int = 0
    """Episodes that were seen to go back by Drop-backup."""
    options: int = 0
    """Episodes in which heuristics may be followed."""
    executed: int = 0
    """Maps executed by the oracle."""
    worst: float = 0.0
    """The largest difference of a sum of rewards, as a part of all slow."""

    def add(self, other: Tally) -> None:
        """Count what has been seen elsewhere."""
        for name in self.__slots__:
            ours, theirs = getattr(self, name), getattr(other, name)
            setattr(self, name, max(ours, theirs) if name == "worst" else ours + theirs)


def workloads() -> list[Path]:
    """The examples and the full set beside the project, each program once."""
    found = [x for y in FOLDERS if y.is_dir() for x in sorted(y.iterdir())]
    return list({x.name: x for x in found if x.is_dir()}.values())


def games(folders: Sequence[Path], seed: int) -> Iterator[tuple[str, Game, int]]:
    """Games of the programs in turn, without end, each with a seed."""
    read = cache(read_problem)
    for number in count():
        path = folders[number % len(folders)]
        turn = number // len(folders)
        random = np.random.default_rng((seed, number))
        problem = read(path)
        if turn % 2 and problem.has_estimates:
            problem = replace(problem, cost_model=CostModel.CYCLES)
        config = GameConfig(waits=bool(turn & 2), shifts=bool(turn & 4))
        game = Game(varied(problem, random), config)
        if random.random() < FOLLOWED:
            game = advised(game, random)
        yield path.name, game, number


def varied(problem: Problem, random: np.random.Generator) -> Problem:
    """A program on some other target."""
    target = problem.target.with_capacity(int(random.choice(CAPACITIES)) * MIB)
    if random.random() < 0.5:
        prefetches, evictions = random.choice(LIMITS, 2).tolist()
        evictions = evictions if len(problem.program) < LONG else MANY
        engine = CopyEngine(prefetches, evictions, float(random.choice([0.0, 1e-6])))
        target = replace(target, copy_engine=engine)
    if random.random() < 0.3:
        most = int(random.choice([0, 2]))
        target = replace(target, cross_program_prefetches=most)
    return replace(problem, target=target)


def advised(game: Game, random: np.random.Generator) -> Game:
    """The game with two heuristics: Belady's, and one that says anything."""

    def anything(game: Game) -> Ints:
        return random.integers(0, len(Action), len(game.steps))

    return game.advised(consult(game, ("belady",), (anything,), Run(iterations=1)))


def play(
    fast: FastGame, bias: Sequence[int], random: np.random.Generator
) -> tuple[Position, float, bool]:
    """The end of a random episode, the sum of its rewards, and if it went back."""
    position, weights = fast.begin(), np.ones(fast.actions)
    weights[: len(Action)] = bias
    saved_s, went_back = 0.0, False
    while not position.is_terminal:
        step, likely = position.step, np.cumsum(weights * position.mask())
        action = int(np.searchsorted(likely, random.random() * likely[-1], "right"))
        saved_s += position.apply(action)
        went_back |= position.step <= step
        if position.is_terminal and action < len(Action):
            went_back |= position.taken[-1] != action
    return position, saved_s, went_back


def tally_of(problem: Problem, memory_map: MemoryMap) -> Tally:
    """What is in a map."""
    program, tally = problem.program, Tally(episodes=1)
    for x in memory_map.allocations:
        buffer = program.buffers[x.buffer]
        tally.donated |= buffer.is_input and buffer.is_output
        tally.loops |= any(y.start < x.end and x.start < y.end for y in program.loops)
        tally.in_place |= any(
            use.access.read_bytes and use.access.writes
            for use in program.uses[x.buffer]
            if x.ready <= use.instruction < x.end
        )
    return tally


def judge(fast: FastGame, position: Position, saved_s: float, tally: Tally) -> str:
    """The first fault of an episode that has ended; nothing if there is none."""
    problem, memory_map = fast.game.problem, position.memory_map()
    slow_s = fast.begin().time_s
    due_s = slow_s - simulate(problem, memory_map).time_s
    tally.worst = abs(saved_s - due_s) / slow_s
    if not tally.worst <= CLOSE:
        return f"the rewards sum to {saved_s} s, the map saves {due_s} s"
    if violations := check(problem, memory_map):
        return f"invalid: {violations[0]}"
    if tally.executed and (mismatches := execute(problem, memory_map)):
        return f"it computes something else: {mismatches[0]}"
    return ""


def episode(
    fast: FastGame, bias: Sequence[int], seed: tuple[int, ...], is_executed: bool
) -> Tally:
    """Play and judge an episode.

    Raises:
        Fault: There is one.
    """
    position, saved_s, went_back = play(fast, bias, np.random.default_rng(seed))
    tally = tally_of(fast.game.problem, position.memory_map())
    tally.steps, tally.backups = position.step, int(went_back)
    tally.executed = int(is_executed)
    tally.options = int(fast.actions > len(Action))
    if fault := judge(fast, position, saved_s, tally):
        problem = fast.game.problem
        raise Fault(
            f"{problem.program.name}: {problem.cost_model}, {problem.target}, "
            f"{fast.game.config}, bias {bias}, seed {seed}: {fault}"
        )
    return tally


def all_episodes(paths: Sequence[Path], seed: int) -> Iterator[tuple[str, Tally]]:
    """Episodes of all games, without end, with the names of their programs."""
    made = 0
    for name, game, number in games(paths, seed):
        fast = FastGame(game)
        for k, bias in enumerate(BIASES):
            made += 1
            yield name, episode(fast, bias, (seed, number, k), made % EXECUTED == 0)


def main(
    folders: Annotated[list[Path] | None, typer.Argument(metavar="[FOLDER]...")] = None,
    episodes: Annotated[int, typer.Option(help="How many.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of all that is drawn.")] = 0,
) -> None:
    """Play random games; by default of the examples and of the full set beside them."""
    paths, fault = folders or workloads(), ""
    tallies, total = dict[str, Tally](), Tally()
    with (
        Console(stderr=True).status("starting") as status,
        suppress(KeyboardInterrupt),
    ):
        try:
            for made, (name, tally) in enumerate(all_episodes(paths, seed), start=1):
                tallies.setdefault(name, Tally()).add(tally)
                total.add(tally)
                status.update(f"{made:,} of {episodes:,} episodes")
                if made >= episodes:
                    break
        except Fault as found:
            fault = str(found)
    table = counts_table({**tallies, "all": total})
    Console(width=120, highlight=False).print(table)
    if fault:
        print(fault)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
