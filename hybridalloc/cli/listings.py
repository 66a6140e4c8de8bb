"""``strategies`` and ``targets``: what there is to choose from."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

import typer

from hybridalloc.cli.endings import Exit
from hybridalloc.cli.options import Json
from hybridalloc.cli.output import show, show_json
from hybridalloc.compose.options import options_of, value_text
from hybridalloc.errors import UsageError
from hybridalloc.registry import (
    STATIC_STRATEGIES,
    STRATEGIES,
    describe,
    get_entry,
    load,
    plug_ins,
)
from hybridalloc.report.tables import facts_table, new_table, targets_table
from hybridalloc.static.strategies import load_static
from hybridalloc.target import TARGETS


def strategies(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="List the options of this one, or what it is composed of.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """List the strategies, or the options of one.

    Strategies of installed packages are among them.
    """
    if name is not None and name in STATIC_STRATEGIES:
        entry = STATIC_STRATEGIES[name]
        return _options(name, entry.description, load_static(name), as_json)
    if name is not None:
        composition = get_entry(name).composition
        if composition:
            return _composition(name, composition, as_json)
        return _options(name, describe(name), load(name), as_json)
    added = plug_ins()
    for reason in added.refused.values():
        warnings.warn(reason, stacklevel=2)
    descriptions = {each: _description(each) for each in [*STRATEGIES, *added.entries]}
    static = {each: entry.description for each, entry in STATIC_STRATEGIES.items()}
    if as_json:
        show_json(descriptions | static)
    else:
        show(facts_table("strategies", descriptions))
        show("", facts_table("strategies for static allocation", static))
    return Exit.ANSWER


def targets(as_json: Json = False) -> int:
    """List the built-in targets and their constants."""
    if as_json:
        show_json({name: asdict(target) for name, target in TARGETS.items()})
    else:
        show(targets_table(TARGETS))
    return Exit.ANSWER


def _composition(name: str, text: str, as_json: bool) -> int:
    if as_json:
        show_json({"composition": text})
    else:
        show(f"{name}: {describe(name)}", "", text)
    return Exit.ANSWER


def _options(
    name: str, description: str, factory: Callable[..., object], as_json: bool
) -> int:
    options = options_of(factory).values()
    facts = {
        option.name: {
            "value": option.choice,
            "default": value_text(option.default),
            "description": option.description,
        }
        for option in options
    }
    if as_json:
        show_json(facts)
        return Exit.ANSWER
    table = new_table(["option", "value", "default"])
    table.add_column(overflow="fold")
    for option, columns in facts.items():
        table.add_row(option, *columns.values())
    show(f"{name}: {description}", "", table if facts else "no options")
    return Exit.ANSWER


def _description(name: str) -> str:
    """What a strategy does; why that is not known, where its package is broken."""
    try:
        return describe(name)
    except UsageError as error:
        warnings.warn(str(error), stacklevel=2)
        return "(cannot be loaded)"
