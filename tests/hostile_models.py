"""What every command makes of a model whose names are hostile."""

from __future__ import annotations

import json
from pathlib import Path

from commands import Command
from pages import HOSTILE

NAMES = tuple(x for x in HOSTILE if x and x.encode(errors="ignore").decode() == x)
"""Those that a file can hold."""


def require_answers(command: Command, model: Path) -> None:
    """Solve, describe, draw and explain a model with small fast memory.

    Each command must succeed, and print nothing that a terminal would obey.
    """
    folder, small = model.parent, ("--capacity", "1KiB")
    limits = ("--strategy", "greedy", "--iterations", 1, "--bound-time", 0, *small)
    found, trace = folder / "map.json", folder / "trace.json"
    shown = [folder / f"map.{suffix}" for suffix in ("html", "png", "svg")]
    for arguments in (
        ("solve", model, *limits, "--out", found),
        ("check", model, found, *small),
        ("info", model),
        ("diff", model, found, found, *small),
        *(("show", model, found, *small, "--out", out) for out in shown),
        ("show", model, found, *small, "--trace", trace),
        *(("explain", model, found, f"#{i}", *small) for i in range(2 * len(NAMES))),
        ("convert", model, "--out", folder / "problem.json"),
        ("info", folder / "problem.json"),
    ):
        ran = command(*arguments)
        assert (ran.code, ran.err) == (0, ""), arguments
        assert ran.out.replace("\n", "").isprintable(), arguments
    json.loads(trace.read_text(encoding="utf-8"))
    assert shown[0].read_text(encoding="utf-8").count("</script>") == 2
