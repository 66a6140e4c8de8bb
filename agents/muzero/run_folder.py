"""The folder of a training: what is in it, and how it survives a kill at any moment.

Every file is written under a temporary name and then renamed. The checkpoint is written
last and names the trajectories that belong to it; what it does not name is left over
from work that was cut short, and is done again.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch

from hybridalloc.errors import InputError, UsageError
from hybridalloc.io.files import read_text, write_bytes, write_text

FORMAT = "hybridalloc muzero run 1"
"""Says what a folder is, and which version of it."""
TEMPORARY = f".{32 * '[0-9a-f]'}.tmp"
"""What files are called until they are complete."""
_DIGEST = 64


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The files of a training."""

    path: Path

    @property
    def config(self) -> Path:
        """The configuration, the seed and the list of programs."""
        return self.path / "config.json"

    @property
    def start(self) -> Path:
        """The network that training began with, if it was given."""
        return self.path / "start.pt"

    @property
    def programs(self) -> Path:
        """Problem files."""
        return self.path / "programs"

    @property
    def maps(self) -> Path:
        """Map files: what demonstrations play back."""
        return self.path / "maps"

    @property
    def found(self) -> Path:
        """Map files: the best that are known."""
        return self.path / "found"

    @property
    def replay(self) -> Path:
        """The trajectories of the replay buffer."""
        return self.path / "replay"

    @property
    def incoming(self) -> Path:
        """Trajectories that actors have played and the learner has not yet taken."""
        return self.path / "incoming"

    @property
    def orders(self) -> Path:
        """What the learner tells actors."""
        return self.path / "orders.json"

    @property
    def actor_log(self) -> Path:
        """What actors have to complain of."""
        return self.path / "actors.log"

    @property
    def weights(self) -> Path:
        """The newest network."""
        return self.path / "weights.pt"

    @property
    def best(self) -> Path:
        """The network that was best in a validation."""
        return self.path / "best.pt"

    @property
    def metrics(self) -> Path:
        """A line of JSON for each iteration."""
        return self.path / "metrics.jsonl"

    @property
    def events(self) -> Path:
        """The same for TensorBoard."""
        return self.path / "tensorboard"

    @property
    def checkpoint(self) -> Path:
        """All else that training goes on from."""
        return self.path / "checkpoint.pt"

    def trajectory(self, key: int, version: int) -> Path:
        """The file of a trajectory."""
        return self.replay / f"{key:08d}-{version}.npz"

    def make(self) -> None:
        """Make the folders.

        Raises:
            UsageError: That is not possible.
        """
        try:
            for folder in self._folders:
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{self.path}: cannot write here: {error}") from error

    @property
    def learned(self) -> list[Path]:
        """Files of what training begins with, or comes to."""
        folders = self.maps, self.found, self.replay, self.incoming
        files = self.checkpoint, *(x for folder in folders for x in folder.iterdir())
        return [x for x in files if x.exists()]

    def sweep(self) -> None:
        """Remove the temporary files that a kill has left; nobody may be writing."""
        for folder in self._folders:
            for file in folder.glob(TEMPORARY):
                file.unlink(missing_ok=True)

    @property
    def _folders(self) -> tuple[Path, ...]:
        inner = self.programs, self.maps, self.found, self.replay, self.incoming
        return self.path, *inner

    def keep_only(self, named: Iterable[tuple[int, int]]) -> None:
        """Remove all trajectories but these keys and versions."""
        names = {self.trajectory(*x).name for x in named}
        for file in self.replay.glob("*.npz"):
            if file.name not in names:
                file.unlink(missing_ok=True)


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write tensors, numbers and texts, with a digest of all bytes before them.

    Raises:
        InputError: The file cannot be written.
    """
    data = io.BytesIO()
    torch.save({"format": FORMAT, **state}, data)
    content = data.getvalue()
    write_bytes(path, hashlib.sha256(content).hexdigest().encode() + content)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read what ``write_checkpoint`` wrote; no code in it is run.

    Raises:
        InputError: The file cannot be read, is something else, or is damaged.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(path, f"cannot read this file: {error}") from error
    digest, content = data[:_DIGEST], data[_DIGEST:]
    if hashlib.sha256(content).hexdigest().encode() != digest:
        raise InputError(path, "the checkpoint is damaged: its digest differs")
    try:
        state = torch.load(io.BytesIO(content), "cpu", weights_only=True)
    except Exception as error:  # torch raises any kind
        raise InputError(path, f"expected a checkpoint: {error}") from error
    found = state.get("format") if isinstance(state, dict) else None
    if found != FORMAT:
        raise InputError(path, f"expected the format {FORMAT!r}, found {found!r}")
    return cast(dict[str, Any], state)


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write a line of JSON for each row."""
    write_text(path, "".join(json.dumps(row) + "\n" for row in rows))


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of such a file; none if there is no file.

    Raises:
        InputError: It cannot be read as such.
    """
    if not path.exists():
        return
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        row = None
        with suppress(ValueError):
            row = json.loads(line)
        if not isinstance(row, dict):
            raise InputError(path, "expected an object of JSON", number)
        yield row
