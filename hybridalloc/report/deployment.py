"""Deployments: what a page and JSON say of settings, and of what became of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType

from hybridalloc.compiler.deploying import Deployment
from hybridalloc.compiler.verifying import Span, Verification
from hybridalloc.report.tables import facts_table, new_table, title
from hybridalloc.report.units import MISSING, ratio_text, time_text
from hybridalloc.report.words import printable

MANY = 5
"""The most names in one line."""


def deployment_json(
    deployment: Deployment, verification: Verification | None
) -> dict[str, Any]:
    """The fields of ``apply --json``."""
    problem = deployment.problem
    fields: dict[str, Any] = {
        "target": problem.target.name,
        "cost_model": problem.cost_model.value,
        "left_out": list(deployment.left_out),
        "given_s": deployment.given_s,
        "is_worth_it": deployment.is_worth_it,
        "environment": deployment.fuel,
        "compiler_options": dict(deployment.settings.options),
    }
    if verification is None:
        return {
            **fields,
            "allocations": len(deployment.map),
            "planned_s": deployment.planned_s,
            "default_s": deployment.default_s,
        }
    return {**fields, **asdict(verification)}


def deployment_parts(
    deployment: Deployment,
    verification: Verification | None,
    name: str,
    limit: int,
) -> Iterator[RenderableType]:
    """What ``apply`` prints.

    Args:
        deployment: The settings.
        verification: What became of them, if that was asked.
        name: What the input is called.
        limit: The most rows of a table.
    """
    problem = deployment.problem
    facts = {
        "allocations": f"{len(deployment.map):,}",
        "left out of the map": _names(deployment.left_out),
        "time of the map": time_text(deployment.given_s),
        "time as planned": _beside(deployment.planned_s, deployment.default_s),
    }
    if verification is not None:
        facts["time as realised"] = _beside(
            verification.realised_s, verification.default_s
        )
        facts["allocations as planned"] = _share(
            verification.exact, verification.allocations
        )
        facts["fast bytes as planned"] = f"{verification.bytes_share:.1%}"
    facts["the compiler's own answer"] = time_text(deployment.default_s)
    heading = title(
        name, problem.target.capacity, problem.cost_model.value, problem.target.name
    )
    yield facts_table(heading, facts)
    if not deployment.is_worth_it:
        yield from ("", "The compiler's own answer is faster: deploy its defaults.")
    if verification is not None and verification.differences:
        yield ""
        yield from _differences(verification, limit)


def _differences(verification: Verification, limit: int) -> Iterator[RenderableType]:
    table = new_table(["buffer", "planned", "realised", "why"])
    for x in verification.differences[:limit]:
        row = (printable(x.buffer), _span(x.planned), _span(x.realised), x.reason)
        table.add_row(*row)
    yield table
    if (more := len(verification.differences) - limit) > 0:
        yield f"and {more:,} more"


def _span(span: Span | None) -> str:
    return MISSING if span is None else f"{span.start} {span.ready} {span.end}"


def _names(names: tuple[str, ...]) -> str:
    if not names:
        return "nothing"
    more = f" and {len(names) - MANY:,} more" if len(names) > MANY else ""
    return f"{len(names):,}: {', '.join(map(printable, names[:MANY]))}{more}"


def _beside(seconds: float, default_s: float | None) -> str:
    if default_s is None or seconds <= 0:
        return time_text(seconds)
    ratio = ratio_text(default_s / seconds)
    return f"{time_text(seconds)}, speed-up {ratio} over the compiler's own"


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f", {part / whole:.1%}" if whole else "")
