"""Disagreement: what fast memory saves each kind of instruction, by either model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hybridalloc.cost_model import elapsed
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.tuning.trial import MODELS
from hybridalloc.understanding.serving import Serving


@dataclass(frozen=True, slots=True)
class KindSavings:
    """The instructions of one kind, all their runs together."""

    kind: str
    instructions: int
    roofline_s: float
    """Seconds that the placements save them, by the roofline."""
    cycles_s: float
    """Seconds that they save, by the compiler's cycles."""
    slower: int
    """How many of them the compiler takes to be slower than all in slow memory."""


def savings_by_kind(problem: Problem, maps: Iterable[MemoryMap]) -> list[KindSavings]:
    """What each kind of instruction saves under some maps, the largest savings first.

    Args:
        problem: With the observations of these maps.
        maps: Of each, every instruction with anything in fast memory counts.
    """
    views = [replace(problem, cost_model=model) for model in MODELS]
    rows: dict[str, list[tuple[float, float]]] = {}
    for memory_map in maps:
        fast = Serving(problem, memory_map).fast
        for t, instruction in enumerate(problem.program.instructions):
            if fast[t] and instruction.observations:
                saved = [elapsed(v, t, ()) - elapsed(v, t, fast[t]) for v in views]
                runs = problem.program.multiplicity[t]
                pair = (runs * saved[0], runs * saved[1])
                rows.setdefault(instruction.kind or "unknown", []).append(pair)
    found = [
        KindSavings(
            kind,
            len(pairs),
            sum(one for one, _ in pairs),
            sum(other for _, other in pairs),
            sum(other < 0 for _, other in pairs),
        )
        for kind, pairs in rows.items()
    ]
    return sorted(found, key=lambda x: -abs(x.roofline_s))
