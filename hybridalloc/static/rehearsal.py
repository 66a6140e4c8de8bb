"""A rehearsal of the strategies: what they compile, they compile before the clock."""

from __future__ import annotations

from functools import partial

from hybridalloc.jit import once
from hybridalloc.solver import Run
from hybridalloc.static.problem import StaticBuffer, StaticProblem
from hybridalloc.static.strategies import static_solver

_PARTS = {"race": ("fits", "branch-and-bound"), "packing": ()}
"""What a strategy has others compile, or nothing; the others have it in themselves."""
_rehearsed: set[str] = set()
"""The strategies that this process has no need to rehearse any more."""


def rehearse(text: str) -> None:
    """The first time on a machine, let a strategy's parts each solve a tiny problem.

    Args:
        text: The strategy's, with options or without.

    Raises:
        UsageError: There is no such strategy.
    """
    name = text.partition("(")[0].strip()
    if name in _rehearsed:
        return
    _rehearsed.add(name)
    for part in _PARTS.get(name, (name,)):
        once(f"static:{part}", partial(static_solver(part).solve, _PROBLEM, Run()))


_PROBLEM = StaticProblem(
    "rehearsal",
    (
        StaticBuffer("a", 4, 0, 3),
        StaticBuffer("b", 8, 2, 5, alignment=8),
        StaticBuffer("c", 4, 4, 6),
    ),
    capacity=16,
)
