"""Demonstrations: maps of other strategies, played back in the game."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hybridalloc.agents.muzero.observing import Observing
from hybridalloc.agents.muzero.openings import openings
from hybridalloc.agents.muzero.programs import Entry
from hybridalloc.agents.muzero.trajectory import Trajectory, imitable
from hybridalloc.game.playback import playback
from hybridalloc.interruption import Interruption
from hybridalloc.io.json_format import read_map, write_map
from hybridalloc.memory_map import MemoryMap
from hybridalloc.ranges import require_within
from hybridalloc.solving import solve


@dataclass(frozen=True, slots=True)
class DemonstrationConfig:
    """Who demonstrates, and how long that may take."""

    strategies: tuple[str, ...] = ("greedy>search",)
    """Each makes a map of each program; a composition is one strategy."""
    time_limit_s: float | None = 30.0
    """Seconds for each map, at most; without a limit, maps are always the same."""
    iterations: int = 200
    """Of the strategy, for each map, at most."""

    def __post_init__(self) -> None:
        require_within("iterations", self.iterations, 1)
        if self.time_limit_s is not None:
            require_within("time_limit_s", self.time_limit_s, 0)


def demonstrate(
    entry: Entry, index: int, memory_map: MemoryMap, observing: Observing
) -> Trajectory:
    """The game's nearest trajectory to a map, or an opening if that is better.

    Args:
        entry: The program.
        index: Of it, in the list of programs.
        memory_map: A valid map of it.
        observing: Observes what is played.
    """
    played = playback(entry.game, memory_map)
    games = (played, *(x.end for x in openings(entry.game, lambda: False)))
    best = min(games, key=lambda x: x.time_s)
    actions = np.array(best.taken, np.int8)
    return imitable(entry, index, actions, observing, is_demonstration=True)


def demonstrations(
    entries: Sequence[Entry],
    observing: Observing,
    folder: Path,
    config: DemonstrationConfig,
    seed: int,
    say: Callable[[str], None],
) -> list[Trajectory]:
    """Demonstrations of all programs, in their order.

    A map that was made before is taken from the folder, and a new one is kept there.
    A program for which a strategy finds no map has no demonstration by it.

    Args:
        entries: The programs.
        observing: Observes what is played.
        folder: Of the maps; is made if there is none.
        config: Who demonstrates.
        seed: Of the strategies.
        say: Is told what is being done.

    Raises:
        InputError: A map cannot be read or written.
        KeyboardInterrupt: Ctrl-C; the map that was being made is given up.
    """
    folder.mkdir(exist_ok=True)
    found = []
    for index, entry in enumerate(entries):
        for number, strategy in enumerate(config.strategies):
            say(f"{entry.name}: {strategy}")
            path = folder / f"{index:03d}-{number}.json.gz"
            if not path.exists():
                made = _made(entry, strategy, config, seed)
                if made is None:
                    continue
                write_map(made, entry.problem, path)
            memory_map = read_map(path, entry.problem)
            found.append(demonstrate(entry, index, memory_map, observing))
    return found


def _made(
    entry: Entry, strategy: str, config: DemonstrationConfig, seed: int
) -> MemoryMap | None:
    limit_s = math.inf if config.time_limit_s is None else config.time_limit_s
    with Interruption() as interruption:
        result = solve(
            entry.problem,
            strategy,
            time_limit=limit_s,
            iterations=config.iterations,
            seed=seed,
        )
    if interruption.happened:
        raise KeyboardInterrupt
    return result.map
