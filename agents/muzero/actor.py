"""The process of one actor: ``python -m hybridalloc.agents.muzero.actor RUN I LIFE``.

It plays until its standard input ends: then the learner has gone.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

import numpy as np
import torch

from hybridalloc.agents.muzero.checkpoint import load_network
from hybridalloc.agents.muzero.curriculum import drawn
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.play import play
from hybridalloc.agents.muzero.players import Players
from hybridalloc.agents.muzero.run import Run, open_run
from hybridalloc.agents.muzero.run_folder import RunFolder
from hybridalloc.agents.muzero.sources import Purpose
from hybridalloc.io.files import read_text

STDIN = 0
AHEAD = 2
"""Iterations whose games may wait for the learner."""
_POLL_S = 0.1


class Actor:
    """Plays with the newest weights."""

    def __init__(self, run: Run, index: int, life: int) -> None:
        """Prepare.

        Args:
            run: What is played.
            index: Of this actor.
            life: How many actors of the run were started before.
        """
        self._run, self._index = run, index
        seed = [run.seed, Purpose.ACT, index, life, time.time_ns()]
        self._random = np.random.default_rng(seed)
        self._seen = -1
        self._players = self._new_players(run.network())

    def turn(self) -> None:
        """Play some games side by side, and leave them for the learner.

        But not while it has more to take than it will learn from.
        """
        folder, most = self._run.folder, self._run.config.curriculum.games
        while len(list(folder.incoming.glob("*.npz"))) > AHEAD * most:
            time.sleep(_POLL_S)
        self._look()
        indices = self._chosen()
        entries, players = self._run.entries, self._players
        decider = players.explorer(self._random)
        heat = self._run.config.temperature
        for game in play(
            entries, indices, decider, players.observing, temperature=heat
        ):
            name = f"{time.time_ns():020d}-{self._index}.npz"
            game.save(folder.incoming / name)

    def _look(self) -> None:
        """Take newer weights, if there are any."""
        weights = self._run.folder.weights
        changed = weights.stat().st_mtime_ns
        if changed != self._seen:
            self._seen = changed
            network = load_network(weights, self._run.config.device)
            self._players = self._new_players(network)

    def _new_players(self, network: Network) -> Players:
        return Players(network, self._run.entries, self._run.config)

    def _chosen(self) -> list[int]:
        """Programs that the learner wants to be played."""
        admitted = json.loads(read_text(self._run.folder.orders))["admitted"]
        lengths = [len(x.game.game.steps) for x in self._run.entries]
        return drawn(admitted, lengths, self._run.config.curriculum, self._random)


def main(folder: str, index: str, life: str) -> None:
    """Play until nobody is there to learn."""
    threading.Thread(target=_end_when_alone, daemon=True).start()
    torch.set_num_threads(1)
    run = open_run(RunFolder(Path(folder)), lambda _: None)
    actor = Actor(run, int(index), int(life))
    while True:
        actor.turn()


def _end_when_alone() -> None:
    while os.read(STDIN, 1):
        pass
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
