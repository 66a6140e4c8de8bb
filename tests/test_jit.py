"""Compilation where nothing can be kept."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from hybridalloc.jit import compiled


def test_functions_compile_where_no_compiled_code_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "installed.py"
    source.write_text("def double(x):\n    return 2 * x\n", encoding="utf-8")
    # Files stand where directories would have to be made.
    blocked = tmp_path / "__pycache__"
    blocked.touch()
    monkeypatch.setenv("HOME", str(blocked))
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec = importlib.util.spec_from_file_location("installed", source)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert compiled(module.double)(21) == 42
