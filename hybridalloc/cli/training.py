"""``train``: the agent MuZero learns to play programs."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybridalloc.benchmarking.workloads import Workload, find_workloads
from hybridalloc.cli.endings import Exit
from hybridalloc.cli.options import (
    Capacity,
    Json,
    Model,
    Seed,
    TargetName,
    read_given,
)
from hybridalloc.cli.output import Step, progress, show, show_json
from hybridalloc.errors import UsageError
from hybridalloc.problem import CostModel, Problem
from hybridalloc.report.units import time_text

if TYPE_CHECKING:
    from hybridalloc.agents.muzero.run import Run
    from hybridalloc.agents.muzero.run_folder import RunFolder
    from hybridalloc.agents.muzero.training_config import TrainConfig

MINUTES = 10.0
"""Of training, where neither a time nor steps are given."""


def train(
    out: Annotated[
        Path,
        typer.Option(
            metavar="RUN",
            help="The folder of the run: weights, checkpoint, metrics.",
            show_default=False,
        ),
    ],
    workloads: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="WORKLOADS",
            help="Workload folders, problem files, HLO texts, or folders that hold "
            "some. With --resume the run has its own copies.",
            show_default=False,
        ),
    ] = None,
    held_out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="WORKLOAD",
            help="A program to validate on, and not to train on; one or more.",
            show_default=False,
        ),
    ] = None,
    preset: Annotated[
        str, typer.Option(metavar="cpu|gpu", help="The parameters to begin with.")
    ] = "cpu",
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="M",
            help=f"How long to train. [default: {MINUTES:g}, or no limit with --steps]",
            show_default=False,
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Steps of learning in all. Without --minutes and --actors, the same "
            "seed and steps give the same network.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run that is in RUN.")
    ] = False,
    seed: Seed = 0,
    actors: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Processes that play while this one learns; 0 does both in turns.",
        ),
    ] = 0,
    threads: Annotated[
        int, typer.Option(min=1, metavar="N", help="Of the network.")
    ] = 1,
    no_imitation: Annotated[
        bool,
        typer.Option("--no-imitation", help="Learn from games alone, from scratch."),
    ] = False,
    weights: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A network to go on from.", show_default=False
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the preset, such as search.simulations=16; several.",
            show_default=False,
        ),
    ] = None,
    target: TargetName = None,
    cost_model: Model = None,
    capacity: Capacity = None,
    as_json: Json = False,
) -> int:
    """Train the agent, by imitation and then by its own play.

    The newest network is RUN/weights.pt, the best one in a validation RUN/best.pt, for
    `solve --strategy "muzero(weights=FILE)"`. Everything is saved again and again:
    Ctrl-C, or a kill, loses little, and a run that goes on is the same as one that
    was never ended.
    """
    from hybridalloc.agents.muzero.run import open_run
    from hybridalloc.agents.muzero.run_folder import RunFolder
    from hybridalloc.agents.muzero.session import Sitting, locked
    from hybridalloc.agents.muzero.session import train as learn
    from hybridalloc.agents.muzero.sources import Limit

    began = time.monotonic()
    if minutes is None and steps is None:
        minutes = MINUTES
    deadline = math.inf if minutes is None else began + 60 * minutes
    folder = RunFolder(out)
    with progress() as step, locked(folder):
        if resume and folder.config.exists():
            given = [x.name for x in _found(workloads, held_out)]
            run = open_run(folder, step, given=given)
        else:
            wish = _Wish(preset, settings or [], not no_imitation, minutes)
            reading = _Reading(target, cost_model, capacity, step)
            run = _begun(folder, reading, workloads, held_out, wish, seed, weights)
        sitting = Sitting(Limit(steps, deadline), actors, threads)
        summary = learn(run, sitting, step)
    if as_json:
        show_json(summary)
    else:
        show(*_lines(summary))
    return Exit.ANSWER


@dataclass(frozen=True, slots=True)
class _Wish:
    """The options that make a configuration."""

    preset: str
    settings: list[str]
    imitates: bool
    minutes: float | None

    def config(self, programs: int) -> TrainConfig:
        """The configuration, for so many programs."""
        from hybridalloc.agents.muzero.settings import configured, hurried

        is_timed = self.minutes is not None
        config = configured(
            self.preset, self.settings, imitates=self.imitates, is_timed=is_timed
        )
        if self.minutes is None:
            return config
        return hurried(config, 60 * self.minutes, programs)


@dataclass(frozen=True, slots=True)
class _Reading:
    """How programs are read."""

    target: str | None
    cost_model: CostModel | None
    capacity: str | None
    step: Step

    def problems(self, workloads: Iterable[Workload]) -> list[Problem]:
        """The programs of some workloads."""
        how = self.target, self.cost_model, self.capacity
        return [read_given(self.step, x.path, *how) for x in workloads]


def _found(paths: list[Path] | None, but: list[Path] | None = None) -> list[Workload]:
    """The workloads that these paths hold, but for some of them."""
    left_out = [x.path.resolve() for x in _found(but)] if but else []
    found = find_workloads(paths) if paths else ()
    return [x for x in found if x.path.resolve() not in left_out]


def _begun(
    folder: RunFolder,
    reading: _Reading,
    workloads: list[Path] | None,
    held_out: list[Path] | None,
    wish: _Wish,
    seed: int,
    weights: Path | None,
) -> Run:
    """A new run."""
    from hybridalloc.agents.muzero.checkpoint import load_network
    from hybridalloc.agents.muzero.run import begin_run

    if folder.config.exists():
        raise UsageError(
            f"{folder.path}: holds a run (expected --resume, or another folder)"
        )
    if not workloads:
        raise UsageError("expected WORKLOADS, the programs to train on")
    found, others = _found(workloads, held_out), _found(held_out)
    config = wish.config(len(found) + len(others))
    start = None if weights is None else load_network(weights)
    return begin_run(
        folder,
        reading.problems(found),
        reading.problems(others),
        *(config, seed, reading.step),
        given=[x.name for x in found],
        start=start,
    )


def _lines(summary: dict[str, Any]) -> Iterator[str]:
    """What has come of it, for people."""
    times_s: dict[str, float] = summary.pop("times_s")
    for name, value in summary.items():
        if isinstance(value, list):
            value = ", ".join(value)
        if value not in (None, ""):
            yield f"{name.replace('_', ' ')}: {value}"
    for name, time_s in times_s.items():
        yield f"best map of {name}: {time_text(time_s)}"
