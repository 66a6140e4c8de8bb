"""Weights in files."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from muzero_cases import drawn, network

from hybridalloc.agents.muzero import checkpoint
from hybridalloc.agents.muzero.checkpoint import load_network, save_network
from hybridalloc.agents.muzero.config import CPU
from hybridalloc.errors import InputError


class Trap:
    """Would leave a folder behind if its pickle were run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (str(self.folder),)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A file with a small network."""
    path = tmp_path / "network.pt"
    save_network(network(3), path)
    return path


def content(path: Path) -> Any:
    """What is in a file."""
    return torch.load(path, weights_only=True)


def test_what_is_loaded_is_what_was_saved(saved: Path) -> None:
    made, loaded, seen = network(3), load_network(saved), drawn(0, 2)
    assert loaded.config == made.config
    assert not loaded.training
    states = made.represent(seen), loaded.represent(seen)
    assert torch.equal(*states)
    predictions = made.predict(states[0]), loaded.predict(states[1])
    assert all(map(torch.equal, *predictions))


def test_a_file_that_is_there_is_replaced_and_nothing_else_is_left(saved: Path) -> None:
    save_network(network(4), saved)
    assert [x.name for x in saved.parent.iterdir()] == [saved.name]
    weight = load_network(saved).actions.weight
    assert torch.equal(weight, network(4).actions.weight)


def test_the_network_for_the_cpu_fits_in_8_megabytes(tmp_path: Path) -> None:
    save_network(network(config=CPU), tmp_path / "network.pt")
    assert (tmp_path / "network.pt").stat().st_size < 8e6


@pytest.mark.parametrize("protocol", [2, 4])
def test_code_in_a_file_is_refused_and_not_run(tmp_path: Path, protocol: int) -> None:
    path, trap = tmp_path / "network.pt", Trap(tmp_path / "trapped")
    torch.save({"weights": trap}, path, pickle_protocol=protocol)
    with pytest.raises(InputError, match="expected weights of a network, without code"):
        load_network(path)
    path.write_bytes(pickle.dumps(trap, protocol))
    with pytest.raises(InputError, match="expected weights of a network, without code"):
        load_network(path)
    assert not trap.folder.exists()


def test_a_file_that_is_cut_short_is_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 40)):
        saved.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"network\.pt: expected "):
            load_network(saved)


def test_a_file_that_was_altered_is_refused_or_the_same(saved: Path) -> None:
    """Bytes that torch does not look at may differ."""
    whole, expected = bytearray(saved.read_bytes()), network(3).state_dict()
    for at in range(0, len(whole), max(1, len(whole) // 150)):
        altered = bytearray(whole)
        altered[at] ^= 0x55
        saved.write_bytes(altered)
        try:
            found = load_network(saved).state_dict()
        except InputError:
            continue
        assert all(torch.equal(x, expected[name]) for name, x in found.items())


@pytest.mark.parametrize("data", [b"", b"weights", b"PK\x03\x04", bytes(1000)])
def test_what_is_no_network_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(data)
    with pytest.raises(InputError, match="other: expected weights of a network"):
        load_network(path)


@pytest.mark.parametrize("other", [[1, 2], {"format": "other"}, {"format": [1]}])
def test_what_torch_reads_but_is_no_network_is_refused(
    tmp_path: Path, other: object
) -> None:
    torch.save(other, tmp_path / "other")
    with pytest.raises(InputError, match="expected the format 'hybridalloc muzero"):
        load_network(tmp_path / "other")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": {}}, "the weights are damaged"),
        ({"weights": [1]}, "expected a network"),
        ({"config": {}}, "the weights are damaged"),
        ({"config": 7}, "the weights are damaged"),
        ({"digest": None}, "the weights are damaged"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(
    saved: Path, changes: dict[str, object], message: str
) -> None:
    torch.save({**content(saved), **changes}, saved)
    with pytest.raises(InputError, match=message):
        load_network(saved)


def test_weights_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    made = network()
    torch.nn.init.constant_(made.actions.weight, torch.nan)
    save_network(made, tmp_path / "network.pt")
    with pytest.raises(InputError, match="expected a network: some weights are not"):
        load_network(tmp_path / "network.pt")


def test_weights_of_other_sizes_are_refused(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if their digest is right."""
    monkeypatch.setattr(checkpoint, "_digest", lambda config, weights: "same")
    whole = content(saved)
    for config in ({**whole["config"], "width": 32}, {"other": 1}, {}, 7):
        torch.save({**whole, "digest": "same", "config": config}, saved)
        with pytest.raises(InputError, match="expected a network: ") as caught:
            load_network(saved)
        assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_an_error_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read this file") as caught:
        load_network(tmp_path / "missing.pt")
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="cannot write this file"):
        save_network(network(), tmp_path / "no" / "folder.pt")
