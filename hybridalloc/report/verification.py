"""The report on a map's optimality, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType

from hybridalloc.problem import Problem
from hybridalloc.report.records import finite
from hybridalloc.report.tables import facts_table, title
from hybridalloc.report.units import time_text
from hybridalloc.report.words import above_bound, gap_text, plural
from hybridalloc.verification import OptimalityReport, Verdict


def sentence(found: OptimalityReport, problem: Problem) -> str:
    """The verdict for people.

    Args:
        found: The report.
        problem: What the map is of: the target and the cost model of all times.
    """
    model = f"under the {problem.cost_model} model of {problem.target.name}"
    if found.verdict is Verdict.INVALID:
        many = plural(len(found.violations), "violation", "violations")
        return f"This map is not valid: {many}."
    if found.verdict is Verdict.OPTIMAL:
        return f"This map is optimal {model}: no valid map is faster (proven)."
    if found.verdict is Verdict.IMPROVED:
        return _improved(found, model)
    if found.gap is None:
        return (
            f"This map is valid; no better one was found in {_took(found)}, and how "
            f"far it is from the best possible {model} is not known.{_note(found)}"
        )
    return (
        f"This map is valid and at most {gap_text(found.gap)} slower than the best "
        f"possible {model}; no better one was found in {_took(found)}.{_note(found)}"
    )


def report_parts(
    found: OptimalityReport, problem: Problem, names: tuple[str, str]
) -> Iterator[RenderableType]:
    """What there is to say to people, one part after the other.

    Args:
        found: The report.
        problem: What the map is of.
        names: The input and the map, as they were given.
    """
    for violation in found.violations:
        yield f"{violation.rule.value}: {violation.message}"
    if found.verdict is Verdict.INVALID:
        yield sentence(found, problem)
        return
    target = problem.target
    head = title(names[0], target.capacity, problem.cost_model, target.name)
    facts = {
        "map": names[1],
        "time": above_bound(found.time, found.gap),
        "lower bound": time_text(found.bound),
    }
    if found.better_time is None:
        facts["took"] = _took(found)
    else:
        facts["better map"] = above_bound(found.better_time, found.better_gap)
        facts["found in"] = _took(found)
    yield facts_table(head, facts)
    yield ""
    yield sentence(found, problem)


def report_json(
    found: OptimalityReport,
    problem: Problem,
    names: tuple[str, str],
    better: str | None,
) -> dict[str, Any]:
    """All figures.

    Args:
        found: The report.
        problem: What the map is of.
        names: The input and the map, as they were given.
        better: Where the better map was written, if it was.
    """
    values = {
        "input": names[0],
        "map": names[1],
        "target": problem.target.name,
        "cost_model": problem.cost_model.value,
        "capacity_bytes": problem.target.capacity,
        "max_slices": problem.target.copy_engine.max_slices,
        "valid": found.verdict is not Verdict.INVALID,
        "violations": [asdict(violation) for violation in found.violations],
        "verdict": found.verdict.value,
        "sentence": sentence(found, problem),
        "time_s": found.time,
        "bound_s": found.bound,
        "gap": found.gap,
        "better_time_s": found.better_time,
        "better_gap": found.better_gap,
        "better_map": better,
        "unsliced_optimal": found.unsliced_optimal,
        "runtime_s": found.runtime,
    }
    return {name: finite(value) for name, value in values.items()}


def _improved(found: OptimalityReport, model: str) -> str:
    how_much = gap_text(found.improvement or 0.0)
    times = f"{time_text(found.better_time)} instead of {time_text(found.time)} {model}"
    head = f"A map that is {how_much} faster exists: {times}"
    if found.better_gap is None:
        return f"{head}.{_note(found)}"
    if found.is_better_optimal:
        return f"{head}. No valid map is faster than that (proven)."
    return (
        f"{head}. That is at most {gap_text(found.better_gap)} slower than the best "
        f"possible.{_note(found)}"
    )


def _took(found: OptimalityReport) -> str:
    return f"{found.runtime:.1f} s"


def _note(found: OptimalityReport) -> str:
    if not found.unsliced_optimal:
        return ""
    return " Only a map with sliced prefetches could be faster (proven)."
