"""Fine-tuning: the network learns the very program that it is to play first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hybridalloc.agents.muzero.checkpoint import load_network
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.programs import bound_time_s
from hybridalloc.agents.muzero.run import begin_run
from hybridalloc.agents.muzero.run_folder import RunFolder
from hybridalloc.agents.muzero.session import Sitting, train
from hybridalloc.agents.muzero.sources import Limit
from hybridalloc.agents.muzero.training_config import CPU
from hybridalloc.errors import UsageError
from hybridalloc.interruption import Interruption
from hybridalloc.io.json_format import read_map
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.solver import Run

SHARE = 0.5
"""Of the time, at most."""
CONFIG = replace(CPU, demonstrations=None, validate_every=10**9)
"""The agent's own games alone, without validations."""


def finetuned(
    problem: Problem, run: Run, network: Network, steps: int
) -> tuple[Network, MemoryMap | None]:
    """A network that has learned a program, and the best map of its games, if any.

    Args:
        problem: The program.
        run: Of the strategy; its seed is the training's.
        network: To begin with; stays as it is.
        steps: Of learning; fewer if half of the time is over.

    Raises:
        KeyboardInterrupt: Ctrl-C; the best map is reported before.
    """
    deadline = run.until(SHARE)
    config = replace(CONFIG, network=network.config, bound_time_s=bound_time_s(run))
    with TemporaryDirectory() as path:
        folder = RunFolder(Path(path))
        try:
            training = begin_run(
                *(folder, [problem], [], config, run.seed, _say), start=network
            )
        except UsageError:  # nothing to decide
            return network, None
        limit = Limit(steps, deadline, run.is_over)
        with Interruption() as interruption:
            train(training, Sitting(limit, threads=run.workers), _say)
        found = folder.found / "000.json.gz"
        best = read_map(found, problem) if found.exists() else None
        if interruption.happened:
            if best is not None:
                run.report(best)
            raise KeyboardInterrupt
        return load_network(folder.weights), best


def _say(what: str) -> None:
    """Nobody listens."""
