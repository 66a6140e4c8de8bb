"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    r"""A table in Markdown: text in the first columns, figures in the others.

    >>> print(table(["a", "b"], [["x|y", "1"]]), end="")
    | a | b |
    | --- | ---: |
    | x\|y | 1 |
    """
    lines = [heads, ["---"] * texts + ["---:"] * (len(heads) - texts), *rows]
    escaped = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)
