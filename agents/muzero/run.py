"""A run: a training's programs, configuration and seed, in its folder."""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hybridalloc.agents.muzero.adapting import adapted
from hybridalloc.agents.muzero.checkpoint import load_network, save_network
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.programs import (
    EXTENDED,
    Entry,
    entry_of,
    prepare,
)
from hybridalloc.agents.muzero.run_folder import FORMAT, RunFolder
from hybridalloc.agents.muzero.training_config import TrainConfig
from hybridalloc.bounds import lower_bound
from hybridalloc.errors import InputError, UsageError
from hybridalloc.game import Advice, Game, advice
from hybridalloc.game.fixing import fixed
from hybridalloc.interruption import Interruption
from hybridalloc.io.files import read_text, write_bytes, write_text
from hybridalloc.io.json_format import read_problem, write_problem
from hybridalloc.problem import Problem

Say = Callable[[str], None]
"""Is told what is being done."""


@dataclass(frozen=True, eq=False)
class Run:
    """What is trained on, and how."""

    folder: RunFolder
    config: TrainConfig
    seed: int
    entries: Sequence[Entry]
    """The programs that are played and learned from."""
    held_out: Sequence[Entry]
    """Those that are played in validations only."""

    def network(self) -> Network:
        """The network that training begins with."""
        if self.folder.start.exists():
            return load_network(self.folder.start, self.config.device)
        torch.manual_seed(self.seed % 2**64)
        return Network(self.config.network).to(self.config.device).eval()


def begin_run(
    folder: RunFolder,
    problems: Sequence[Problem],
    held_out: Sequence[Problem],
    config: TrainConfig,
    seed: int,
    say: Say,
    *,
    given: Sequence[str] = (),
    start: Network | None = None,
) -> Run:
    """Make the folder of a new run.

    Args:
        folder: Holds no run yet, nor anything of one.
        problems: What is trained on; what leaves nothing to decide is left out.
        held_out: What the network is validated on.
        config: How it is trained.
        seed: Of all chance.
        say: Is told what is being done.
        given: What the programs were called by who began the run.
        start: A network to go on from; the sizes are then those of it, the heuristics
            those of the configuration.

    Raises:
        UsageError: No program is left, or the folder cannot be made or is in use.
    """
    folder.make()
    if left := folder.learned:
        raise UsageError(f"{left[0]}: is there already (expected a new folder)")
    folder.start.unlink(missing_ok=True)
    if start is not None:
        start = adapted(start, config.network.observation.heuristics)
        save_network(start, folder.start)
        config = replace(config, network=start.config)
    ready = list(_prepared(problems, config, say))
    if not ready:
        raise UsageError("nothing to train on: no program has anything to decide")
    run = Run(folder, config, seed, ready, list(_prepared(held_out, config, say)))
    content = {
        "format": FORMAT,
        "seed": seed,
        "given": list(given),
        "config": config.as_dict(),
        "programs": list(_written(run)),
    }
    write_text(folder.config, json.dumps(content, indent=2) + "\n")
    return run


def _written(run: Run) -> Iterator[dict[str, object]]:
    """Write the programs of a run; what its configuration says of each."""
    for number, entry in enumerate((*run.entries, *run.held_out)):
        file = f"{number:03d}.json.gz"
        write_problem(entry.problem, run.folder.programs / file)
        _write_votes(entry.game.game.advice, run.folder.programs / f"{number:03d}.npz")
        yield {
            "name": entry.name,
            "file": file,
            "votes": f"{number:03d}.npz",
            "bound_s": entry.bound_s,
            "is_held_out": number >= len(run.entries),
        }


def open_run(folder: RunFolder, say: Say, *, given: Sequence[str] = ()) -> Run:
    """Read a run that was begun.

    Args:
        folder: Of it.
        say: Is told what is being done.
        given: What the programs are called now, if they are named again.

    Raises:
        InputError: A file cannot be read, or is damaged.
        UsageError: The programs are others.
    """
    try:
        content = json.loads(read_text(folder.config))
        if content["format"] != FORMAT:
            raise ValueError(f"format {content['format']!r}, not {FORMAT!r}")
        known = [str(x) for x in content["given"]]
        config, seed = TrainConfig.from_dict(content["config"]), int(content["seed"])
        programs = [(x, bool(x["is_held_out"])) for x in content["programs"]]
        entries: tuple[list[Entry], list[Entry]] = [], []
        for program, is_held_out in programs:
            entries[is_held_out].append(_read(folder, program, say))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(folder.config, f"expected a run: {error!r}") from error
    if given and list(given) != known:
        raise UsageError(
            f"{folder.path}: trains on {', '.join(known)} (expected these programs, or "
            f"another folder)"
        )
    return Run(folder, config, seed, *entries)


def _read(folder: RunFolder, program: dict[str, Any], say: Say) -> Entry:
    say(f"{program['name']}: preparing")
    problem = read_problem(folder.programs / program["file"])
    game = Game(problem, EXTENDED, fixed(problem))
    votes = _read_votes(folder.programs / program["votes"], len(game.steps))
    return entry_of(game.advised(votes), float(program["bound_s"]))


def _write_votes(given: Advice, path: Path) -> None:
    """Keep what heuristics said, as some of them take long."""
    data, votes = io.BytesIO(), dict(zip(given.names, given.votes, strict=True))
    np.savez_compressed(data, **votes)
    write_bytes(path, data.getvalue())


def _read_votes(path: Path, steps: int) -> Advice:
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            return advice([(name, file[name]) for name in file.files], steps)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(path, f"expected votes of heuristics: {error}") from error


def _prepared(
    problems: Iterable[Problem], config: TrainConfig, say: Say
) -> Iterable[Entry]:
    """Programs made ready, without the compiler's answer; those that can be played."""
    for problem in problems:
        say(f"{problem.program.name}: lower bound and heuristics")
        with Interruption() as interruption:
            bound_s = lower_bound(problem, time_limit=config.bound_time_s).seconds
        if interruption.happened:
            raise KeyboardInterrupt
        if not math.isfinite(bound_s):
            continue
        names = config.network.observation.heuristics
        try:
            fixed(problem)
        except ValueError:  # no place is found for what is pinned
            continue
        entry = prepare(problem, bound_s, names)
        if entry.game.game.steps:
            yield entry
