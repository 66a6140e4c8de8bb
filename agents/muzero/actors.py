"""Actors: processes that play, while the learner learns.

They read the newest weights, and leave trajectories in a folder. Any of them may be
killed at any moment: another one takes its place. When the learner ends, or is killed,
so do they.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hybridalloc.agents.muzero.run_folder import RunFolder
from hybridalloc.agents.muzero.training import Training
from hybridalloc.agents.muzero.trajectory import Trajectory, load
from hybridalloc.errors import InputError, UsageError
from hybridalloc.io.files import write_text

MOST_DEATHS = 20
"""Of actors, while the learner waits for one iteration's games."""
_POLL_S = 0.05
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that say how many threads a library of linear algebra takes."""


class Actors:
    """Some actors, and what comes from them."""

    def __init__(self, folder: RunFolder, count: int) -> None:
        """Prepare; they start when the first games are wanted.

        Args:
            folder: Of the run.
            count: How many play at a time.
        """
        self._folder, self._count = folder, count
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._started = 0
        self._vain = 0

    def games(
        self, training: Training, is_over: Callable[[], bool]
    ) -> list[Trajectory]:
        """Wait for the games of an iteration, and take all that are there.

        Raises:
            UsageError: Actors end as soon as they are started.
        """
        config = training.run.config.curriculum
        found: list[Trajectory] = []
        while len(found) < config.games and sum(map(len, found)) < config.decisions:
            self._see_to_them()
            if is_over():
                raise TimeoutError
            found += self._taken(training)
            time.sleep(_POLL_S)
        self._vain = 0
        return found

    def saved(self, training: Training) -> None:
        """Tell the actors what to play."""
        orders = {"admitted": training.curriculum.admitted}
        write_text(self._folder.orders, json.dumps(orders) + "\n")

    def end(self) -> None:
        """End all of them."""
        for process in self._running.values():
            process.kill()
            process.wait()
            if process.stdin is not None:
                process.stdin.close()
        self._running.clear()

    @property
    def processes(self) -> list[int]:
        """The identifiers of those that run."""
        return [x.pid for x in self._running.values() if x.poll() is None]

    def _see_to_them(self) -> None:
        """Start those that are missing."""
        for index in range(self._count):
            process = self._running.get(index)
            if process is not None and process.poll() is None:
                continue
            if process is not None and process.stdin is not None:
                process.stdin.close()
                self._vain += 1
            if self._vain > MOST_DEATHS:
                raise UsageError(
                    f"actors end as soon as they begin (see {self._folder.actor_log})"
                )
            self._running[index] = self._start(index)

    def _start(self, index: int) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(str(Path(x).absolute()) for x in sys.path)
        module, folder = "hybridalloc.agents.muzero.actor", str(self._folder.path)
        self._started += 1
        with open(self._folder.actor_log, "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", module, folder, str(index), str(self._started)],
                stdin=subprocess.PIPE,  # its end tells that the learner has gone
                stdout=subprocess.DEVNULL,
                stderr=log,
                env={**os.environ, "PYTHONPATH": path, **dict.fromkeys(_THREADS, "1")},
                start_new_session=True,  # Ctrl-C is for the learner
            )

    def _taken(self, training: Training) -> list[Trajectory]:
        """What the actors have left; what is damaged is thrown away."""
        found = []
        for file in sorted(self._folder.incoming.glob("*.npz")):
            with suppress(InputError):
                observing = training.players.observing
                found.append(load(file, training.run.entries, observing))
            file.unlink(missing_ok=True)
        return found


@contextmanager
def actors(folder: RunFolder, count: int) -> Iterator[Actors]:
    """Actors that end with the block."""
    made = Actors(folder, count)
    try:
        yield made
    finally:
        made.end()
