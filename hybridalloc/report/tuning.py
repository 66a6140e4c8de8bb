"""Tunings: what a page and JSON say of the plans that were tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType

from hybridalloc.problem import CostModel
from hybridalloc.report.benchmark.markdown import table
from hybridalloc.report.tables import new_table, title
from hybridalloc.report.units import MISSING, ratio_text, time_text
from hybridalloc.tuning.disagreement import KindSavings, savings_by_kind
from hybridalloc.tuning.trial import Trial
from hybridalloc.tuning.tuner import Tuner

_TRIAL_HEADS = ("plan", "planned, roofline", "cycles", "realised, roofline", "cycles")
_KIND_HEADS = ("kind", "instructions", "saved, roofline", "cycles", "slower")
KINDS = 12
"""The most kinds in a table."""


def tuning_json(tuner: Tuner) -> dict[str, Any]:
    """The fields of ``tune --json`` and of ``report.json``."""
    problem, best = tuner.problem, tuner.best
    return {
        "program": tuner.source.label,
        "target": problem.target.name,
        "capacity_bytes": problem.target.capacity,
        "best": best.name,
        "default_s": tuner.trials[0].time_s,
        "best_s": best.time_s,
        "gain": _gain(tuner, best),
        "trials": [
            {
                "name": x.name,
                "allocations": len(x.planned),
                "planned_s": dict(x.planned_s),
                "realised_s": dict(x.realised_s),
                "compile_s": x.compile_s,
            }
            for x in tuner.trials
        ],
        "kinds": [asdict(x) for x in _savings(tuner)],
    }


def tuning_parts(tuner: Tuner) -> Iterator[RenderableType]:
    """What ``tune`` prints."""
    yield from (_title(tuner), "")
    trials = new_table(_TRIAL_HEADS[:1], (*_TRIAL_HEADS[1:], "gain"))
    for x in tuner.trials:
        trials.add_row(*_trial_row(tuner, x))
    yield trials
    yield from ("", _verdict(tuner), "", _ABOUT_KINDS, "")
    kinds = new_table(_KIND_HEADS[:1], _KIND_HEADS[1:])
    for saved in _savings(tuner)[:KINDS]:
        kinds.add_row(*_kind_row(saved))
    yield kinds


def tuning_page(tuner: Tuner) -> str:
    """The same as Markdown, for ``report.md``."""
    trials = [_trial_row(tuner, x) for x in tuner.trials]
    kinds = [_kind_row(x) for x in _savings(tuner)]
    parts = [
        "# Tuning",
        _title(tuner),
        table((*_TRIAL_HEADS, "gain"), trials),
        _verdict(tuner),
        _ABOUT_KINDS,
        table(_KIND_HEADS, kinds),
    ]
    return "\n\n".join(parts) + "\n"


_ABOUT_KINDS = (
    "What fast memory saves in all these plans together, by kind of instruction; "
    "slower: how many the compiler takes to be slower so."
)


def _title(tuner: Tuner) -> str:
    target = tuner.problem.target
    models = "roofline and the compiler's cycles"
    return title(tuner.source.label, target.capacity, models, target.name)


def _verdict(tuner: Tuner) -> str:
    best = tuner.best
    if best is tuner.trials[0]:
        return "No plan is faster than the compiler's own answer: deploy its defaults."
    return (
        f"The best is {best.name}, {ratio_text(_gain(tuner, best))} as fast as the "
        f"compiler's own answer, by the compiler's cycles and simulated stalls."
    )


def _gain(tuner: Tuner, trial: Trial) -> float:
    default_s = tuner.trials[0].time_s
    return default_s / trial.time_s if trial.time_s > 0 else 1.0


def _savings(tuner: Tuner) -> list[KindSavings]:
    return savings_by_kind(tuner.problem, [x.realised for x in tuner.trials])


def _trial_row(tuner: Tuner, x: Trial) -> list[str]:
    times = [
        time_text(seconds[model])
        for seconds in (x.planned_s, x.realised_s)
        for model in (CostModel.ROOFLINE, CostModel.CYCLES)
    ]
    if x is tuner.trials[0]:
        times[:2] = [MISSING, MISSING]
    return [x.name, *times, ratio_text(_gain(tuner, x))]


def _kind_row(x: KindSavings) -> list[str]:
    saved = (time_text(x.roofline_s), time_text(x.cycles_s))
    return [x.kind, f"{x.instructions:,}", *saved, f"{x.slower:,}"]
