"""``strategies`` and ``targets``: what there is to choose from."""

from __future__ import annotations

from dataclasses import asdict

from hybridalloc.cli.endings import Exit
from hybridalloc.cli.options import Json
from hybridalloc.cli.output import show, show_json
from hybridalloc.registry import STRATEGIES
from hybridalloc.report.tables import facts_table, targets_table
from hybridalloc.target import TARGETS


def strategies(as_json: Json = False) -> int:
    """List the strategies."""
    descriptions = {name: entry.description for name, entry in STRATEGIES.items()}
    if as_json:
        show_json(descriptions)
    else:
        show(facts_table("strategies", descriptions))
    return Exit.ANSWER


def targets(as_json: Json = False) -> int:
    """List the built-in targets and their constants."""
    if as_json:
        show_json({name: asdict(target) for name, target in TARGETS.items()})
    else:
        show(targets_table(TARGETS))
    return Exit.ANSWER
