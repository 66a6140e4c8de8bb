"""Workload folders are replaced as a whole."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from hybridalloc.compiler.folders import replace_folder


def test_ctrl_c_waits_until_a_folder_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = tmp_path / "workload", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
        (folder / folder.name).touch()
    rename = Path.rename

    def interrupted(path: Path, target: Path) -> Path:
        found = rename(path, target)
        os.kill(os.getpid(), signal.SIGINT)
        return found

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_folder(new, old)
    assert [path.name for path in tmp_path.iterdir()] == ["workload"]
    assert [path.name for path in old.iterdir()] == ["new"]
