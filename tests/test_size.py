"""Functions and files stay small enough to be read at one sitting."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("hybridalloc", "agents", "baselines", "cpsat_models", "scripts")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def body_lines(function: Function) -> int:
    """The lines of a function after its docstring."""
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:]
    if not body:
        return 0
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_has_at_most_300_lines_and_its_functions_30(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    functions = (x for x in ast.walk(ast.parse(text)) if isinstance(x, Function))
    assert {x.name: n for x in functions if (n := body_lines(x)) > 30} == {}
