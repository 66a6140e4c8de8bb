"""A rehearsal of a strategy: what it compiles, it compiles before the clock starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from hybridalloc.compose import (
    BestOf,
    Chain,
    FirstOf,
    Share,
    Strategy,
    Together,
    Within,
    as_solver,
)
from hybridalloc.jit import once
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Instruction, Loop, Program
from hybridalloc.registry import OURS
from hybridalloc.simulator import simulate
from hybridalloc.solver import Run, Solver
from hybridalloc.target import MIB, TARGETS

ITERATIONS = 20
"""What a rehearsal runs for, of whatever a strategy iterates."""


_rehearsed: set[str] = set()
"""The kinds of solver that this process has no need to rehearse any more."""


def rehearse(strategy: str | Solver, begin: Callable[[], None] = lambda: None) -> None:
    """The first time on a machine, let a strategy's parts each solve a tiny program.

    That compiles their inner loops, which takes up to a minute; those of one kind
    share them, whatever their options, but for the heuristics that they follow.
    Whatever fails here fails again, and is told,
    where the strategy solves the problem that it is meant for.

    Args:
        strategy: A solver, or the text of a composition.
        begin: Called before anything is compiled.

    Raises:
        UsageError: The text is not one of a composition.
    """
    for part in _parts(as_solver(strategy)):
        kind = _kind(part)
        if kind not in _rehearsed:
            _rehearsed.add(kind)
            once(kind, partial(_rehearse, part, begin))


def _kind(part: Solver) -> str:
    """What solvers that compile the same have in common."""
    heuristics = getattr(getattr(part, "config", None), "heuristics", "")
    name = f"{type(part).__module__}.{type(part).__qualname__}"
    return f"{name} that follows {heuristics}" if heuristics else name


def _rehearse(part: Solver, begin: Callable[[], None]) -> None:
    """Let a solver solve the tiny program, without heuristics of the user's own."""
    begin()
    config: Any = getattr(part, "config", None)
    if getattr(config, "own", ()):
        part = type(part)(replace(config, own=()))  # type: ignore[call-arg]
    problem = _problem()
    simulate(problem, MemoryMap())
    with suppress(Exception):
        part.solve(problem, Run(iterations=ITERATIONS))


def _parts(solver: Solver) -> Iterator[Solver]:
    """Our own solvers that a composition is made of; a whole one may need but some.

    What others do by the way, they do once.
    """
    if isinstance(solver, BestOf | Chain | FirstOf | Together):
        for member in solver.solvers:
            yield from _parts(member)
    elif isinstance(solver, Share | Strategy | Within):
        yield from _parts(solver.solver)
    elif type(solver).__module__.partition(".")[0] == OURS:
        yield solver


def _problem() -> Problem:
    """One of everything: weights, a chain in place, an output, a loop, and little room.

    All that is worth being in fast memory does not fit, so that something gives way.
    """
    sizes = {"weights": 2, "carry": 3, "one": 1, "two": 2, "three": 3, "result": 1}
    inputs, output = ("weights", "carry"), "result"
    buffers = tuple(
        Buffer(name, size * MIB, name in inputs, name == output, name != "carry")
        for name, size in sizes.items()
    )
    program = Program(
        "rehearsal",
        (
            Instruction("fill", 1e-6, (_read(0, 2), _write(2, 1), _write(3, 2))),
            Instruction("more", 1e-6, (_read(3, 2), _write(4, 3))),
            Instruction("chain", 1e-6, (_read(2, 1), Access(1, 3 * MIB, 3 * MIB))),
            Instruction("idle", 1e-4),
            Instruction("body", 1e-6, (_read(0, 2), Access(1, 3 * MIB, 3 * MIB))),
            Instruction("last", 1e-6, (_read(4, 3), _read(2, 1), _write(5, 1))),
            Instruction("rest", 1e-4, (_read(3, 2),)),
        ),
        buffers,
        (Loop(4, 5, trip_count=4),),
    )
    target = TARGETS["tpu-v4i"].with_capacity(6 * MIB)
    return Problem(program, target, compiler_map=MemoryMap())


def _read(buffer: int, size: int) -> Access:
    return Access(buffer, read_bytes=size * MIB)


def _write(buffer: int, size: int) -> Access:
    return Access(buffer, write_bytes=size * MIB, whole=True)
