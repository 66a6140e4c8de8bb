"""Files that PyTorch writes: read, or refused in one clear line."""

from __future__ import annotations

import random
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from commands import Command
from hostile_models import NAMES, require_answers
from torch import nn
from torch_cases import exported

from hybridalloc.errors import InputError
from hybridalloc.io.read import read_problem
from hybridalloc.io.torch_export import from_exported_program
from hybridalloc.io.torch_export.quiet import quiet


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model in a file."""
    path = tmp_path_factory.mktemp("models") / "layers.pt2"
    layers = nn.Sequential(nn.Linear(64, 64), nn.ReLU(inplace=True), nn.Linear(64, 64))
    with quiet():
        torch.export.save(exported(layers, torch.zeros(8, 64)), path)
    return path


def _directory(path: Path) -> int:
    """Where the central directory of an archive begins."""
    with zipfile.ZipFile(path) as archive:
        return archive.start_dir


def test_a_file_gives_the_program_that_was_saved(saved: Path) -> None:
    with quiet():
        program_of = torch.export.load(saved)
    assert read_problem(saved) == from_exported_program(program_of, name="layers")


@pytest.mark.parametrize("suffix", [".pt2", ".PT2", ".pt", ".pth"])
def test_a_file_is_recognised_by_how_its_name_ends(
    saved: Path, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"layers{suffix}"
    path.symlink_to(saved)
    assert read_problem(path, target="tpu-v4").target.name == "tpu-v4"


def test_commands_take_a_saved_model(
    command: Command, saved: Path, tmp_path: Path
) -> None:
    out, problem = tmp_path / "map.json", tmp_path / "problem.json"
    limits = ("--strategy", "greedy", "--time-limit", "5", "--bound-time", "0")
    for arguments in (
        ("solve", saved, "--capacity", "64KiB", *limits, "--out", out),
        ("check", saved, out, "--capacity", "64KiB"),
        ("info", saved),
        ("convert", saved, "--out", problem),
    ):
        ran = command(*arguments)
        assert (ran.code, ran.err) == (0, "")
    assert read_problem(problem) == read_problem(saved)


def test_what_is_no_exported_program_is_refused_in_one_line(
    command: Command, saved: Path, tmp_path: Path
) -> None:
    data = saved.read_bytes()
    (tmp_path / "cut.pt2").write_bytes(data[: len(data) // 2])
    (tmp_path / "empty.pt2").write_bytes(b"")
    (tmp_path / "prose.pt").write_text("To be, or not to be.")
    torch.save(nn.Linear(2, 2).state_dict(), tmp_path / "weights.pth")
    with zipfile.ZipFile(tmp_path / "wrong.pt2", "w") as archive:
        archive.writestr("m/models/model.json", "[]")
    for name, words in {
        "cut.pt2": "complete zip archive",
        "empty.pt2": "complete zip archive",
        "prose.pt": "complete zip archive",
        "weights.pth": "expected an exported program, as torch.export.save writes it",
        "wrong.pt2": "expected what torch.export.save of PyTorch",
        "none.pt2": "cannot read this file",
    }.items():
        ran = command("solve", tmp_path / name)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith(f"error: {tmp_path / name}: ")
        assert words in ran.err
        assert ran.err.count("\n") == 1


class Named(nn.Module):
    """A product with a buffer of each name, as far as PyTorch takes it."""

    def __init__(self) -> None:
        super().__init__()
        self.names = [name.replace(".", " ") for name in NAMES]
        for name in self.names:
            self.register_buffer(name, torch.ones(4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for name in self.names:
            x = x @ self.get_buffer(name)
        return x


def test_every_command_takes_a_model_of_hostile_names(
    command: Command, tmp_path: Path
) -> None:
    with quiet():
        torch.export.save(exported(Named(), torch.zeros(4, 4)), tmp_path / "model.pt2")
    require_answers(command, tmp_path / "model.pt2")


def test_a_model_of_unknown_sizes_is_refused_in_one_line(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "dynamic.pt2"
    sizes = {"input": {0: torch.export.Dim("batch")}}
    arguments = (torch.zeros(2, 4),)
    with quiet():
        layer = torch.export.export(nn.Linear(4, 4), arguments, dynamic_shapes=sizes)
        torch.export.save(layer, path)
    ran = command("info", path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert f"{path}: node input: size" in ran.err
    assert "export without dynamic_shapes" in ran.err


def test_a_missing_framework_is_named(
    command: Command, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    ran = command("info", saved)
    assert (ran.code, ran.out) == (2, "")
    assert 'needs PyTorch: pip install "torch>=' in ran.err


@pytest.mark.parametrize("seed", range(20))
def test_a_mutated_file_is_read_or_refused(
    saved: Path, tmp_path: Path, seed: int, capfd: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(seed)
    data = bytearray(saved.read_bytes())
    graph = data.index(b'"graph"')
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(graph, graph + 4000)] = rng.choice(b'0123456789"{}[],:a')
    path = tmp_path / "mutant.pt2"
    path.write_bytes(data)
    with suppress(InputError):
        read_problem(path)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("seed", range(20))
def test_a_file_with_a_mutated_directory_is_read_or_refused(
    saved: Path, tmp_path: Path, seed: int, capfd: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(seed)
    data = bytearray(saved.read_bytes())
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(_directory(saved), len(data))] = rng.randrange(256)
    path = tmp_path / "mutant.pt2"
    path.write_bytes(data)
    with suppress(InputError):
        read_problem(path)
    assert capfd.readouterr().err == ""


def test_an_archive_of_a_version_to_come_is_refused_in_one_line(
    command: Command, saved: Path, tmp_path: Path
) -> None:
    data = bytearray(saved.read_bytes())
    data[_directory(saved) + 6] = 97  # it takes version 9.7 to unpack the first file
    (tmp_path / "late.pt2").write_bytes(data)
    ran = command("info", tmp_path / "late.pt2")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "expected a complete zip archive" in ran.err
