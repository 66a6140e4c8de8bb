"""Runs: what is refused in a folder, and what is left out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from named_problems import NAMED, PINS_THAT_DO_NOT_FIT
from training_cases import PROGRAMS, SHORT, begun, quiet, sit, told

from hybridalloc.agents.muzero.metrics import Metrics
from hybridalloc.agents.muzero.network import Network
from hybridalloc.agents.muzero.progress import Progress
from hybridalloc.agents.muzero.run import begin_run, open_run
from hybridalloc.agents.muzero.run_folder import RunFolder, write_lines
from hybridalloc.agents.muzero.session import locked
from hybridalloc.agents.muzero.training_config import TrainConfig
from hybridalloc.errors import InputError, UsageError


def _overwritten(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    "change",
    [
        lambda x: b"",
        lambda x: x[: len(x) // 2],
        lambda x: x[:-1] + bytes([x[-1] ^ 1]),
        lambda x: x[:5000] + bytes([x[5000] ^ 1]) + x[5001:],
        lambda x: b"something else",
    ],
)
def test_a_damaged_checkpoint_is_bad_input(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    sit(begun(tmp_path), 1)
    _overwritten(tmp_path / "checkpoint.pt", change)
    with pytest.raises(InputError, match=r"checkpoint\.pt: .*damaged"):
        sit(open_run(RunFolder(tmp_path), quiet))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "other"}', "{"])
def test_a_damaged_configuration_is_bad_input(tmp_path: Path, text: str) -> None:
    begun(tmp_path)
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(InputError, match=r"config\.json: expected a run"):
        open_run(RunFolder(tmp_path), quiet)


def test_a_trajectory_that_is_missing_is_bad_input(tmp_path: Path) -> None:
    run = begun(tmp_path)
    sit(run, 1)
    next((tmp_path / "replay").iterdir()).unlink()
    with pytest.raises(InputError, match="expected a trajectory"):
        sit(run)


def test_two_processes_do_not_train_one_run_at_a_time(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with (
        locked(folder),
        pytest.raises(UsageError, match="trained already"),
        locked(folder),
    ):
        pass


def test_who_is_refused_leaves_the_files_of_the_other_alone(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with locked(folder):
        writing = folder.incoming / f".{uuid4().hex}.tmp"
        writing.touch()
        with pytest.raises(UsageError, match="trained already"), locked(folder):
            pass
        assert writing.exists()
    (tmp_path / ".mine.tmp").touch()
    with locked(folder):
        assert not writing.exists()
        assert (tmp_path / ".mine.tmp").exists()


def test_a_folder_that_takes_no_lock_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    with (
        pytest.raises(UsageError, match="cannot write here"),
        locked(RunFolder(tmp_path)),
    ):
        pass


@pytest.mark.parametrize("name", ["checkpoint.pt", "replay/mine.npz", "maps/a.json"])
def test_a_run_is_not_begun_among_files_of_something_else(
    tmp_path: Path, name: str
) -> None:
    RunFolder(tmp_path).make()
    (tmp_path / name).touch()
    with pytest.raises(UsageError, match=f"{name}: is there already"):
        begun(tmp_path)


def test_a_run_without_given_weights_forgets_those_of_one_that_was_not_begun(
    tmp_path: Path,
) -> None:
    folder, start = RunFolder(tmp_path), Network(SHORT.network)
    with pytest.raises(UsageError, match="nothing to train on"):
        begin_run(folder, [], [], SHORT, 0, quiet, start=start)
    begun(tmp_path)
    assert not folder.start.exists()


def test_any_seed_gives_a_network(tmp_path: Path) -> None:
    assert begun(tmp_path, seed=2**70 + 1).network().device.type == "cpu"


@pytest.mark.parametrize("row", [{"iteration": "1"}, {"iteration": None}, {}])
def test_a_line_of_no_iteration_is_left_out_of_the_metrics(
    tmp_path: Path, row: dict[str, Any]
) -> None:
    folder = RunFolder(tmp_path)
    write_lines(folder.metrics, [row, {"iteration": 0}, {"iteration": 1}])
    metrics = Metrics(folder, 1)
    metrics.write({"iteration": 1, "seconds": 2.0})
    metrics.close()
    assert told(folder) == [{"iteration": 0}, {"iteration": 1, "seconds": 2.0}]


def test_a_program_without_any_decision_is_nothing_to_train_on(tmp_path: Path) -> None:
    small = NAMED["a value carried by a loop"].with_capacity(1)
    with pytest.raises(UsageError, match="nothing to train on"):
        begin_run(RunFolder(tmp_path), [small], [], SHORT, 0, quiet)


def test_a_program_whose_pins_find_no_place_is_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(
        "hybridalloc.agents.muzero.run.lower_bound", lambda *_, **__: known
    )
    problems = (PINS_THAT_DO_NOT_FIT, *PROGRAMS)
    run = begin_run(RunFolder(tmp_path), problems, [], SHORT, 0, quiet)
    assert [x.name for x in run.entries] == [x.program.name for x in PROGRAMS]


def test_how_far_a_training_is_can_be_told() -> None:
    assert str(Progress(iteration=2, step=5)) == "iteration 2, step 5"
    told = str(Progress(games=3, last=[0.25], earned=0.5, best=1.5))
    assert told.endswith("3 games, loss 0.250, return 0.5000, best speed-up 1.5000")


def test_a_configuration_comes_back_from_its_numbers() -> None:
    for config in (SHORT, SHORT.untimed(), replace(SHORT, demonstrations=None)):
        assert TrainConfig.from_dict(config.as_dict()) == config
