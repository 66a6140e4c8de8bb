"""What the picture says in words."""

from __future__ import annotations

from collections.abc import Iterator

from hybridalloc.report.picture.scene import Emphasis, Scene
from hybridalloc.report.units import ratio_text, size_text, time_text
from hybridalloc.report.words import change_text, plural, printable

LONGEST_LINE = 145
LONGEST_HEADING = 42


def headline(scene: Scene) -> str:
    """The time of the map, and how much faster it is than none."""
    time_s = scene.simulation.time_s
    speedup = scene.slow_s / time_s if time_s else None
    return f"{time_text(time_s)},  {ratio_text(speedup)} as fast as all in slow memory"


def facts(scene: Scene) -> Iterator[str]:
    """The setting and the figures of the map."""
    problem, simulation = scene.problem, scene.simulation
    allocations = scene.memory_map.allocations
    copies = sum(a.has_copy for a in allocations)
    evictions = sum(a.eviction is not None for a in allocations)
    yield f"{problem.target.name}, {size_text(problem.target.capacity)}"
    yield f"simulated: {problem.cost_model.value}"
    yield f"peak {size_text(scene.memory_map.peak_bytes(problem.program))}"
    yield plural(len(allocations), "allocation", "allocations")
    yield plural(copies, "prefetch", "prefetches")
    yield plural(evictions, "eviction", "evictions")
    yield f"{size_text(simulation.moved_bytes)} copied"
    yield f"stalls {time_text(simulation.stall_s)}"


def heading(scene: Scene) -> str:
    """The program, and which map it is of several."""
    name = scene.problem.program.name
    return shortened(
        f"{scene.label} · {name}" if scene.label else name, LONGEST_HEADING
    )


def remark(scene: Scene, chosen: int | None, other: Scene | None = None) -> str:
    """What is wrong with the map, where a chosen buffer is, or how two maps differ.

    Args:
        scene: The map.
        chosen: The buffer that is brought out, if any.
        other: The map beside it, if any.

    Returns:
        Nothing if there is nothing to say.
    """
    if scene.violations:
        more = len(scene.violations) - 1
        others = f" ({more:,} more)" if more else ""
        return shortened(f"NOT VALID: {scene.violations[0]}{others}")
    if chosen is None:
        return "" if other is None else _comparison(scene, other)
    buffer = scene.problem.program.buffers[chosen]
    placed = sum(a.buffer == chosen for a in scene.memory_map.allocations)
    where = plural(placed, "allocation", "allocations")
    return shortened(f"{buffer.name}, {size_text(buffer.size)}: {where}")


def shortened(text: str, length: int = LONGEST_LINE) -> str:
    """The printable text, with its middle left out if it is longer than this."""
    text = printable(text)
    if len(text) <= length:
        return text
    return f"{text[: length * 4 // 5]}…{text[-length // 6 :]}"


def _comparison(scene: Scene, other: Scene) -> str:
    """How much of a map the other has too, and which of them takes less."""
    alike = len(Emphasis.of(scene, other, None).faded)
    count = len(scene.memory_map.allocations)
    change = change_text(scene.simulation.time_s - other.simulation.time_s, "this map")
    return (
        f"faded: {alike:,} of {count:,} allocations, which the other map has too, at "
        f"whatever offsets; {change}"
    )
