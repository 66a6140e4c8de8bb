"""Training on the command line, and in processes that are killed."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Command
from training_cases import settings

from hybridalloc.agents.muzero.actors import Actors, actors
from hybridalloc.agents.muzero.checkpoint import load_network
from hybridalloc.agents.muzero.run import open_run
from hybridalloc.agents.muzero.run_folder import RunFolder, read_lines
from hybridalloc.agents.muzero.session import locked
from hybridalloc.agents.muzero.sources import Limit
from hybridalloc.agents.muzero.training import Training

STEPS = 12


def options(out: Path, *more: str | Path) -> list[str]:
    """Of a short training."""
    chosen = [x for setting in settings() for x in ("--set", setting)]
    return ["--out", str(out), *chosen, *map(str, more)]


def losses(out: Path) -> list[Any]:
    """What two trainings have to have in common, and the weights."""
    folder = RunFolder(out)
    rows = [{**x, "seconds": 0} for x in read_lines(folder.metrics)]
    weights = load_network(folder.weights).state_dict()
    return [*rows, {name: x.tolist() for name, x in weights.items()}]


@pytest.fixture
def program(bundled: Path) -> Path:
    return bundled / "mixer_block_b128"


def _child(arguments: list[str]) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(str(Path(x).absolute()) for x in sys.path)
    return subprocess.Popen(
        [sys.executable, "-m", "hybridalloc", "train", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def _kill_at_work(child: subprocess.Popen[bytes], folder: RunFolder) -> None:
    """Kill a training a random moment after it has begun to write."""

    def written() -> int:
        path = folder.checkpoint
        return path.stat().st_mtime_ns if path.exists() else 0

    before, until = written(), time.monotonic() + 120
    while written() == before and child.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(random.Random(before).uniform(0, 0.5))
    child.kill()
    child.communicate()


def test_a_training_that_is_killed_again_and_again_ends_with_the_same_losses(
    command: Command, program: Path, tmp_path: Path
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    ran = command("train", program, *options(one, "--steps", str(STEPS)))
    assert ran.code == 0, ran.err
    arguments = [str(program), *options(other, "--steps", str(STEPS), "--resume")]
    for _ in range(2):
        _kill_at_work(_child(arguments), RunFolder(other))
    assert command("train", *arguments).code == 0
    assert losses(other) == losses(one)
    assert not list(other.rglob(".*.tmp"))


def test_json_tells_what_has_come_of_it(
    command: Command, program: Path, tmp_path: Path
) -> None:
    more = "--steps", "4", "--no-imitation", "--held-out", program, "--json"
    other = program.parent / "wide_deep_b8192"
    ran = command("train", other, program, *options(tmp_path, *more))
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert told["programs"] == ["wide_deep_b8192"]
    assert told["held_out"] == ["mixer_block_b128"]
    assert told["steps"] == 4
    assert told["games"] == 4
    assert told["speed_up"] > 0
    assert Path(told["best"]).exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((), "expected WORKLOADS"),
        (("PROGRAM", "--preset", "none"), "expected one of cpu, gpu"),
        (("PROGRAM", "--set", "learner.rates=1"), "no parameter 'learner.rates'"),
        (("PROGRAM", "--set", "learner.batch=many"), "expected something like 8"),
        (("PROGRAM", "--set", "learner.batch=0"), "batch 0 is not in"),
        (("PROGRAM", "--set", "learner"), "expected NAME=VALUE"),
        (("PROGRAM", "--set", "device=nowhere"), "device 'nowhere'"),
        (("PROGRAM", "--weights", "missing.pt"), "missing.pt"),
        (("missing",), "missing"),
    ],
)
def test_wrong_options_are_one_line(
    command: Command, program: Path, tmp_path: Path, more: Any, message: str
) -> None:
    given = [program if x == "PROGRAM" else x for x in more]
    ran = command("train", *options(tmp_path / "run"), *given)
    assert ran.code == 2
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_run_is_not_begun_twice_nor_gone_on_with_for_other_programs(
    command: Command, program: Path, tmp_path: Path
) -> None:
    given = options(tmp_path, "--steps", "0")
    assert command("train", program, *given).code == 0
    again = command("train", program, *given)
    assert (again.code, "expected --resume" in again.err) == (2, True)
    other = program.parent / "wide_deep_b8192"
    mixed = command("train", other, *given, "--resume")
    assert (mixed.code, "trains on mixer_block_b128" in mixed.err) == (2, True)
    assert command("train", program, *given, "--resume").code == 0
    assert command("train", "--resume", *given).code == 0


def test_actors_play_while_the_learner_learns_and_may_be_killed(
    command: Command,
    program: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert command("train", program, *options(tmp_path, "--steps", "0")).code == 0
    folder, take = RunFolder(tmp_path), Actors.games
    killed: list[int] = []

    def games(self: Actors, training: Training, is_over: Callable[[], bool]) -> Any:
        found = take(self, training, is_over)
        if not killed:
            killed.extend(self.processes)
            os.kill(killed[0], 9)
        return found

    monkeypatch.setattr(Actors, "games", games)
    run = open_run(folder, lambda _: None)
    with locked(folder), actors(folder, 1) as source:
        training = Training(run, lambda _: None)
        training.train(Limit(6, time.monotonic() + 120), source)
        running = source.processes
    assert training.progress.step == 6
    assert training.progress.games >= 2
    assert running != killed
    assert all(_is_gone(x) for x in (*killed, *running))


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False
