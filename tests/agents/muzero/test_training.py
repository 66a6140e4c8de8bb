"""Training: it learns, and a run goes on as if it had never been ended."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from training_cases import PROGRAMS, SHORT, STEPS, begun, quiet, sit, told

from hybridalloc.agents.muzero.checkpoint import load_network
from hybridalloc.agents.muzero.learner import Learner
from hybridalloc.agents.muzero.models import ModelKind
from hybridalloc.agents.muzero.run import begin_run, open_run
from hybridalloc.agents.muzero.run_folder import RunFolder
from hybridalloc.agents.muzero.session import Sitting, train
from hybridalloc.agents.muzero.sources import Limit
from hybridalloc.checker import check
from hybridalloc.io.json_format import read_map
from hybridalloc.simulator import Simulator


class Killed(BaseException):
    """What a kill looks like from inside."""


def outcome(path: Path) -> tuple[list[dict[str, Any]], bytes, set[str]]:
    """All that two trainings have to have in common: metrics, weights, trajectories."""
    folder = RunFolder(path)
    rows = [{k: v for k, v in x.items() if k != "seconds"} for x in told(folder)]
    weights = load_network(folder.weights).state_dict().values()
    numbers = b"".join(x.numpy().tobytes() for x in weights)
    return rows, numbers, {x.name for x in folder.replay.iterdir()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was trained without an end in between."""
    path = tmp_path_factory.mktemp("run") / "whole"
    sit(begun(path))
    return path


def test_a_run_s_folder_holds_what_the_manual_says(whole: Path) -> None:
    names = {x.name for x in whole.iterdir()}
    assert names == {
        *("best.pt", "checkpoint.pt", "config.json", "incoming", "maps"),
        *("found", "metrics.jsonl", "programs", "replay", "tensorboard", "weights.pt"),
    }
    assert any(x.name.startswith("events") for x in (whole / "tensorboard").iterdir())


def test_metrics_tell_of_each_iteration(whole: Path) -> None:
    rows = told(RunFolder(whole))
    assert [x["step"] for x in rows] == [2, 4, 6, 8]
    assert [x["games"] for x in rows] == [0, 2, 4, 6]
    assert [x["speed_up"] is None for x in rows] == [True, False, True, False]
    assert all(np.isfinite(x["loss_total"]) for x in rows)


def test_the_best_maps_are_left_in_the_folder(whole: Path) -> None:
    run = open_run(RunFolder(whole), quiet)
    times_s = sit(run)["times_s"]
    for index, entry in enumerate(run.entries):
        path = whole / "found" / f"{index:03d}.json.gz"
        found = read_map(path, entry.problem)
        assert check(entry.problem, found) == ()
        time_s = Simulator(entry.problem).simulate(found).time_s
        assert time_s == pytest.approx(times_s[entry.name])


def test_the_same_seed_gives_the_same_run_and_another_seed_another(
    whole: Path, tmp_path: Path
) -> None:
    sit(begun(tmp_path / "same"))
    assert outcome(tmp_path / "same") == outcome(whole)
    sit(begun(tmp_path / "other", seed=1))
    assert outcome(tmp_path / "other")[1] != outcome(whole)[1]


def test_a_run_in_several_sittings_is_the_same_as_in_one(
    whole: Path, tmp_path: Path
) -> None:
    begun(tmp_path)
    for steps in (0, 1, 2, 5, STEPS, STEPS):
        summary = sit(open_run(RunFolder(tmp_path), quiet), steps)
        assert summary["steps"] == steps
    assert outcome(tmp_path) == outcome(whole)


def _dying(
    monkeypatch: pytest.MonkeyPatch, path: Path, at: int, *, is_done: bool
) -> bool:
    """Begin a run that is killed at one of its writes; whether it got that far."""
    write, left = os.replace, at

    def killed(old: Path, new: Path) -> None:
        nonlocal left
        left -= 1
        if left == 0 and not is_done:
            raise Killed
        write(old, new)
        if left == 0:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("hybridalloc.io.files.os.replace", killed)
        try:
            sit(begun(path))
        except Killed:
            return True
    return False


@pytest.mark.parametrize(("at", "is_done"), [(9, True), (16, False), (23, True)])
def test_a_run_that_was_killed_at_a_write_goes_on_as_if_it_had_not_been(
    monkeypatch: pytest.MonkeyPatch,
    whole: Path,
    tmp_path: Path,
    at: int,
    is_done: bool,
) -> None:
    assert _dying(monkeypatch, tmp_path, at, is_done=is_done)
    sit(open_run(RunFolder(tmp_path), quiet))
    assert outcome(tmp_path) == outcome(whole)
    assert not list(tmp_path.rglob(".*.tmp"))


def test_ctrl_c_ends_after_the_step_and_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, whole: Path, tmp_path: Path
) -> None:
    step = Learner.step

    def interrupted(learner: Learner, batch: Any, number: int) -> Any:
        if number == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return step(learner, batch, number)

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "step", interrupted)
        assert sit(begun(tmp_path))["steps"] == 5
    sit(open_run(RunFolder(tmp_path), quiet))
    assert outcome(tmp_path) == outcome(whole)


@pytest.mark.parametrize("word", ["playing", "searching", "validating"])
def test_ctrl_c_while_games_are_played_gives_them_up(
    whole: Path, tmp_path: Path, word: str
) -> None:
    said: list[str] = []

    def say(what: str) -> None:
        said.append(what)
        if what.startswith(word):
            raise KeyboardInterrupt

    run = begun(tmp_path)
    assert train(run, Sitting(Limit(STEPS)), say)["steps"] < STEPS
    assert said[-1].startswith(word)
    sit(open_run(RunFolder(tmp_path), quiet))
    assert outcome(tmp_path) == outcome(whole)


def test_the_time_limit_ends_a_training_and_loses_nothing(
    whole: Path, tmp_path: Path
) -> None:
    run = begun(tmp_path)
    assert train(run, Sitting(Limit(STEPS, 0.0)), quiet)["steps"] == 0
    sit(run)
    assert outcome(tmp_path) == outcome(whole)


def test_imitation_learns_what_is_demonstrated(tmp_path: Path) -> None:
    config = replace(SHORT, imitation_steps=120, steps=60, validate_every=1)
    learner = replace(config.learner, batch=32, rate=5e-3, warm_up=5)
    summary = sit(begun(tmp_path, replace(config, learner=learner)), 120)
    first, last = (x["loss_policy"] for x in told(RunFolder(tmp_path)))
    assert last < first / 2
    assert summary["games"] == 0
    assert summary["speed_up"] > 1


@pytest.mark.parametrize("model", list(ModelKind))
def test_training_from_scratch_plays_from_the_first_iteration_on(
    tmp_path: Path, model: ModelKind
) -> None:
    config = replace(SHORT, demonstrations=None, model=model)
    sit(begun(tmp_path, config), 4)
    assert [x["games"] for x in told(RunFolder(tmp_path))] == [2, 4]
    assert not list((tmp_path / "maps").iterdir())


def test_a_run_may_begin_with_the_weights_of_another(
    whole: Path, tmp_path: Path
) -> None:
    start = load_network(whole / "weights.pt")
    folder = RunFolder(tmp_path)
    begin_run(folder, PROGRAMS, (), SHORT, 0, quiet, start=start)
    sit(open_run(folder, quiet), 0)
    found = load_network(folder.weights).state_dict()
    assert all(torch.equal(found[k], x) for k, x in start.state_dict().items())


def test_sgd_trains_as_well(tmp_path: Path) -> None:
    learner = replace(SHORT.learner, optimiser="sgd")
    sit(begun(tmp_path, replace(SHORT, learner=learner)), 3)
    sit(open_run(RunFolder(tmp_path), quiet), 4)
