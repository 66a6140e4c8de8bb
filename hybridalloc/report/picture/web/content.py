"""What a page shows, as plain values: columns of numbers and of names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridalloc.memory_map import Allocation, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Program
from hybridalloc.report.difference import CHANGES, counts_text
from hybridalloc.report.picture.loops import loop_depths
from hybridalloc.report.picture.panels import Panel, panels, steps
from hybridalloc.report.picture.scene import (
    Emphasis,
    Phase,
    Piece,
    Scene,
    cumulated,
    other_of,
    rectangles,
)
from hybridalloc.report.picture.web.palette import PALETTES
from hybridalloc.report.picture.words import facts, heading, headline, remark
from hybridalloc.report.words import printable
from hybridalloc.understanding.differing import diff

MOST_STEPS = 20_000
"""How many steps a line has at most."""
MOST_CHANGES = 300
"""How many of the buffers that differ are listed."""
DIGITS = 7
SUM_DIGITS = 12
"""Of sums over the run, from which a page takes differences."""
ORIGINS, PHASES = list(Origin), list(Phase)

Content = dict[str, Any]


def content(scenes: Sequence[Scene], chosen: int | None) -> Content:
    """What the page is given.

    Args:
        scenes: One map, or two side by side.
        chosen: The buffer to bring out, if any.
    """
    scene, problem = scenes[0], scenes[0].problem
    pieces, lists = [rectangles(x) for x in scenes], _panels(scenes)
    highest = [piece.high for group in pieces for piece in group]
    return {
        **_program(problem.program),
        "axis": scene.axis.value,
        "chosen": chosen,
        "left": min(x.left for x in scenes),
        "right": max(x.left + x.width for x in scenes),
        "first": scene.first,
        "capacity": problem.target.capacity,
        "top": max(problem.target.capacity, *highest, 1),
        "reserved": [list(x) for x in problem.target.fast.reserved],
        "scratch": _scratch(problem),
        "loops": _loops(problem),
        "origins": [x.value for x in ORIGINS],
        "phases": [x.value for x in PHASES],
        "maps": [
            _map(x, group, shown, other_of(scenes, x), chosen)
            for x, group, shown in zip(scenes, pieces, lists, strict=True)
        ],
        "differences": _differences(scenes),
        "palettes": PALETTES,
    }


def _program(program: Program) -> Content:
    return {
        "program": printable(program.name),
        "buffers": {
            "name": [printable(x.name) for x in program.buffers],
            "size": [x.size for x in program.buffers],
        },
        "instructions": {
            "name": [printable(x.name) for x in program.instructions],
            "runs": list(program.multiplicity),
        },
    }


def _map(
    scene: Scene,
    pieces: Sequence[Piece],
    shown: list[Content],
    other: Scene | None,
    chosen: int | None,
) -> Content:
    return {
        "heading": heading(scene) if scene.label else "",
        "headline": headline(scene),
        "facts": list(facts(scene)),
        "remark": remark(scene, chosen, other),
        "valid": not scene.violations,
        "x": _floats(scene.x, SUM_DIGITS),
        "clock": _floats(cumulated(scene.now_s), SUM_DIGITS),
        "faded": sorted(Emphasis.of(scene, other, None).faded),
        "pieces": _pieces(pieces),
        "allocations": _allocations(scene),
        "panels": shown,
    }


def _pieces(pieces: Sequence[Piece]) -> Content:
    return {
        "allocation": [x.allocation for x in pieces],
        "phase": [PHASES.index(x.phase) for x in pieces],
        "low": [x.low for x in pieces],
        "high": [x.high for x in pieces],
        "start": [x.start for x in pieces],
        "end": [x.end for x in pieces],
    }


def _allocations(scene: Scene) -> Content:
    own: tuple[Allocation, ...] = scene.memory_map.allocations
    copies = [x.eviction for x in own]
    return {
        "buffer": [x.buffer for x in own],
        "origin": [ORIGINS.index(x.origin) for x in own],
        "offset": [x.offset for x in own],
        "start": [x.start for x in own],
        "ready": [x.ready for x in own],
        "end": [x.end for x in own],
        "slices": [len(x.slices) for x in own],
        "issue": [x.issue if x else None for x in copies],
        "due": [x.due if x else None for x in copies],
        "saved": _floats(scene.serving.worth_of(x) for x in own),
    }


def _panels(scenes: Sequence[Scene]) -> list[list[Content]]:
    """The panels of each map; those beside each other reach equally high."""
    lists = [
        [_panel(scene, panel) for panel in panels(scene, other_of(scenes, scene))]
        for scene in scenes
    ]
    for beside in zip(*lists, strict=True):
        top = max(panel["top"] for panel in beside)
        for panel in beside:
            panel["top"] = top
    return lists


def _panel(scene: Scene, panel: Panel) -> Content:
    drawn = [
        steps(scene, line.amounts, MOST_STEPS, spread=panel.spread)
        for line in panel.lines
    ]
    highest = max(float(values.max()) for values, _ in drawn)
    return {
        "title": panel.title,
        "unit": panel.unit.value,
        "limit": panel.limit,
        "top": max(highest, panel.limit or 0.0),
        "edges": _floats(drawn[0][1], SUM_DIGITS),
        "lines": [
            {
                "role": line.role.value,
                "label": line.label,
                "filled": line.filled,
                "values": _floats(values),
            }
            for line, (values, _) in zip(panel.lines, drawn, strict=True)
        ],
    }


def _scratch(problem: Problem) -> list[list[int]]:
    """The instructions that need scratch, and the bytes."""
    steps = enumerate(problem.program.instructions)
    return [[t, x.scratch_bytes] for t, x in steps if x.scratch_bytes]


def _loops(problem: Problem) -> list[list[int]]:
    loops, depths = problem.program.loops, loop_depths(problem.program)
    pairs = zip(loops, depths, strict=True)
    return [[x.start, x.end, x.trip_count, depth] for x, depth in pairs]


def _differences(scenes: Sequence[Scene]) -> Content | None:
    """The buffers that differ, if there are two maps and both are valid."""
    if len(scenes) < 2 or any(x.violations for x in scenes):
        return None
    one, other = scenes
    found = diff(one.problem, one.memory_map, other.memory_map)
    shown = found.buffers[:MOST_CHANGES]
    return {
        "count": len(found.buffers),
        "kinds": counts_text(found),
        "buffer": [x.buffer for x in shown],
        "change": [CHANGES[x.change][0] for x in shown],
        "to_fast": [x.to_fast for x in shown],
        "to_slow": [x.to_slow for x in shown],
        "effect": _floats(x.effect_s for x in shown),
    }


def _floats(
    values: Iterable[float] | NDArray[Any], digits: int = DIGITS
) -> list[float | int]:
    """Numbers with few digits, whole ones without a fraction."""
    numbers = np.asarray(list(values), dtype=np.float64)
    return [_short(float(x), digits) for x in numbers]


def _short(value: float, digits: int) -> float | int:
    if value.is_integer() and abs(value) < 2**53:
        return int(value)
    if not math.isfinite(value):
        return 0
    return float(f"{value:.{digits}g}")
