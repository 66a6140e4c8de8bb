"""The panels below the rectangles: bytes and seconds over time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from hybridalloc.arrays import Floats, Ints
from hybridalloc.liveness import live_bytes
from hybridalloc.packing.occupancy import held_bytes
from hybridalloc.report.picture.scene import Scene, XAxis, cumulated
from hybridalloc.report.units import size_text, time_text


class Role(StrEnum):
    """What a line tells of, which decides its colour."""

    HELD = "held"
    LIVE = "live"
    FETCHES = "fetches"
    EVICTIONS = "evictions"
    STALLS = "stalls"
    SLOW = "slow"
    NOW = "now"
    COMPUTE = "compute"
    LOST = "lost"


class Unit(StrEnum):
    """What a panel has upwards."""

    BYTES = "bytes"
    SECONDS = "seconds"
    PARTS = "parts"
    """Seconds for each second of the axis."""


@dataclass(frozen=True, slots=True)
class Line:
    """Amounts over time."""

    role: Role
    amounts: Floats
    """(T,): of each instruction."""
    label: str = ""
    """In the panel's key; nothing if it needs none."""
    filled: bool = True


@dataclass(frozen=True, slots=True)
class Panel:
    """Lines on one axis."""

    title: str
    unit: Unit
    lines: tuple[Line, ...]
    limit: int | None = None
    """The capacity, where that is of interest."""
    spread: bool = False
    """Whether amounts belong to the whole width of an instruction: neighbours that
    share a step are averaged, and otherwise the highest counts."""


def panels(scene: Scene, other: Scene | None = None) -> list[Panel]:
    """What there is to show of a map, from top to bottom.

    Args:
        scene: The map.
        other: Another map of the same problem that it is compared with, if any.
    """
    found = [_held(scene), _live(scene), _queues(scene), _stalls(scene), _times(scene)]
    return found if other is None else [*found, _lost(scene, other)]


def steps(
    scene: Scene, amounts: Floats, most: int, *, spread: bool = False
) -> tuple[Floats, Floats]:
    """What to draw of amounts over time, from the first instruction shown.

    Args:
        scene: Where the instructions are on the axis.
        amounts: (T,) any numbers.
        most: How many steps there are at most; then neighbours share one.
        spread: As in ``Panel``.

    Returns:
        (steps,) amounts, and (steps+1,) where each begins and the last ends.
    """
    shown = np.arange(scene.first, len(amounts))
    shown = shown[np.diff(scene.x)[shown] > 0]
    if not shown.size:
        return np.zeros(1), np.array([scene.left, scene.left + scene.width])
    if spread and len(shown) > most:
        edges = np.linspace(scene.left, scene.left + scene.width, most + 1)
    else:
        shown = shown[_groups(len(shown), most)]
        edges = scene.x[[*shown, len(amounts)]]
    if spread:
        passed = np.interp(edges, scene.x, cumulated(amounts))
        return np.diff(passed) / np.diff(edges), edges
    # An instruction without width counts with the one before it.
    return np.maximum.reduceat(amounts, [scene.first, *shown[1:]]), edges


def _groups(count: int, most: int) -> Ints:
    """Where each of so many groups of neighbours begins."""
    return np.unique(np.linspace(0, count, most, endpoint=False, dtype=np.int64))


def _held(scene: Scene) -> Panel:
    held = held_bytes(scene.problem.program, scene.memory_map)
    title = f"held by allocations: at most {size_text(int(held.max()))} at a time"
    line = Line(Role.HELD, held.astype(np.float64))
    return Panel(title, Unit.BYTES, (line,), scene.problem.target.capacity)


def _live(scene: Scene) -> Panel:
    live = live_bytes(scene.problem.program)
    title = f"live, wherever: at most {size_text(int(live.max()))} at a time"
    line = Line(Role.LIVE, live.astype(np.float64))
    return Panel(title, Unit.BYTES, (line,), scene.problem.target.capacity)


def _queues(scene: Scene) -> Panel:
    fetches, evictions = scene.course.waiting_s.T
    lines = (
        Line(Role.FETCHES, fetches, "prefetches"),
        Line(Role.EVICTIONS, evictions, "evictions", filled=False),
    )
    most = time_text(float(scene.course.waiting_s.max()))
    return Panel(f"work in the copy queues: at most {most}", Unit.SECONDS, lines)


def _stalls(scene: Scene) -> Panel:
    total = time_text(scene.simulation.stall_s)
    line = Line(Role.STALLS, scene.stall_s)
    title = f"stalls before an instruction, in all its runs: {total} in all"
    return Panel(title, Unit.SECONDS, (line,))


def _times(scene: Scene) -> Panel:
    lines = (
        Line(Role.SLOW, scene.all_slow_s, "all in slow memory"),
        Line(Role.NOW, scene.now_s, "this map"),
        Line(Role.COMPUTE, scene.compute_s, "computation", filled=False),
    )
    return _spread(scene, "of an instruction, in all its runs", lines)


def _lost(scene: Scene, other: Scene) -> Panel:
    here, there = (x.now_s + x.stall_s for x in (scene, other))
    lost = np.maximum(here - there, 0.0)
    total = time_text(float(lost.sum()))
    line = Line(Role.LOST, lost)
    return _spread(scene, f"lost to the other map, stalls included: {total}", (line,))


def _spread(scene: Scene, of: str, lines: tuple[Line, ...]) -> Panel:
    if scene.axis is XAxis.TIME:
        title = f"time {of}, in parts of this map's"
        return Panel(title, Unit.PARTS, lines, spread=True)
    return Panel(f"time {of}", Unit.SECONDS, lines, spread=True)
