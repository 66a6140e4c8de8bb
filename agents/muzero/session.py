"""A sitting of training: a run is begun or opened, and trained for a while."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hybridalloc.agents.muzero.actors import actors
from hybridalloc.agents.muzero.run import Run, Say
from hybridalloc.agents.muzero.run_folder import RunFolder
from hybridalloc.agents.muzero.settings import require_device
from hybridalloc.agents.muzero.sources import Limit, SelfPlay
from hybridalloc.agents.muzero.threads import threads
from hybridalloc.agents.muzero.training import Training
from hybridalloc.errors import UsageError
from hybridalloc.io.json_format import write_map


@dataclass(frozen=True, slots=True)
class Sitting:
    """How a sitting trains."""

    limit: Limit
    actors: int = 0
    """Processes that play; without any, this one does, in turns with learning."""
    threads: int = 1
    """Of the network, in this process."""


def train(run: Run, sitting: Sitting, say: Say) -> dict[str, Any]:
    """Train until the limit or Ctrl-C; what comes of it, by name.

    With neither a deadline nor actors, the same seed and steps give the same weights,
    whether the run is ended and opened in between or not.

    Args:
        run: What is trained; goes on from its checkpoint, if there is one.
        sitting: How.
        say: Is told what is being done.

    Raises:
        InputError: The checkpoint or a file that it names is damaged.
        UsageError: The device is not there.
        KeyboardInterrupt: Ctrl-C before anything was learned.
    """
    require_device(run.config.device)
    with threads(sitting.threads):
        training = Training(run, say)
        if sitting.actors == 0:
            training.train(sitting.limit, SelfPlay())
        else:
            with actors(run.folder, sitting.actors) as source:
                training.train(sitting.limit, source)
    return {**_summary(training), "times_s": _found(training)}


@contextmanager
def locked(folder: RunFolder) -> Iterator[None]:
    """Within this block no other process trains in the folder.

    The lock ends with the process, however that ends. What a killed process has left
    half written is swept up.

    Raises:
        UsageError: Another process does, or the folder cannot be made.
    """
    folder.make()
    try:
        file = open(folder.path / "lock", "w")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise UsageError(f"{folder.path}: cannot write here: {error}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(f"{folder.path}: is being trained already") from error
        folder.sweep()
        yield


def _found(training: Training) -> dict[str, float]:
    """Write the best map of each program; its time, by the program's name."""
    times_s = {}
    for index, entry in enumerate(training.run.entries):
        if (best := training.replay.best(index)) is None:
            continue
        path = training.run.folder.found / f"{index:03d}.json.gz"
        write_map(best.end(entry).memory_map(), entry.problem, path)
        times_s[entry.name] = best.time_s
    return times_s


def _summary(training: Training) -> dict[str, Any]:
    progress, folder = training.progress, training.run.folder
    return {
        "run": str(folder.path),
        "programs": [x.name for x in training.run.entries],
        "held_out": [x.name for x in training.run.held_out],
        "iterations": progress.iteration,
        "steps": progress.step,
        "games": progress.games,
        "decisions": progress.decisions,
        "loss": progress.last[0] if progress.last else None,
        "earned": progress.earned,
        "best_known": training.best_known,
        "speed_up": progress.best if progress.best > 0 else None,
        "weights": str(folder.weights),
        "best": str(folder.best) if folder.best.exists() else None,
        "seconds": progress.seconds,
    }
