"""A lower bound and its prices, in words and tables, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.console import RenderableType
from rich.table import Table

from hybridalloc.problem import Problem
from hybridalloc.report.records import References, finite
from hybridalloc.report.tables import facts_table, new_table, title
from hybridalloc.report.units import MISSING, time_text
from hybridalloc.report.words import XLA_ANSWER, above_bound, left_out, printable
from hybridalloc.solver import gap

if TYPE_CHECKING:
    from hybridalloc.bounds.bound import Bound, Prices

_MIB, _GB = 2**20, 1e9
_NEGLIGIBLE = 1e-9
"""A price below this part of all of them is rounding."""
_LEAST_SHOWN_S = 5e-13
"""Anything less would be shown as 0.000 ns."""


@dataclass(frozen=True, slots=True)
class InstructionPrice:
    """What fast memory is worth during one instruction."""

    instruction: int
    name: str
    price_s_per_mib: float


@dataclass(frozen=True, slots=True)
class BoundRecord:
    """A lower bound in figures; the fields are the keys of ``bound --json``."""

    input: str
    target: str
    cost_model: str
    capacity_bytes: int
    max_slices: int
    bound_s: float
    infeasible: bool
    """Whether it is proven that no valid map exists; then ``bound_s`` is infinite."""
    slow_s: float
    xla_s: float | None
    slow_gap: float | None
    """``slow_s / bound_s - 1``; ``None`` if not everything may be in slow memory."""
    xla_gap: float | None
    price_s_per_mib: float | None
    """Seconds of a run that a MiB more of fast memory would save; ``None`` if there was
    no time for it."""
    price_s_per_gbps: float | None
    """Seconds of a run that copies faster by 1e9 bytes a second would save."""
    runtime_s: float
    instructions: tuple[InstructionPrice, ...]
    """Those with a price, the highest first."""

    def as_json(self) -> dict[str, object]:
        """The record for JSON."""
        return {name: finite(value) for name, value in asdict(self).items()}


def bound_record(
    name: str, problem: Problem, bound: Bound, references: References
) -> BoundRecord:
    """What a lower bound comes to.

    Args:
        name: What to call the input.
        problem: What was bounded.
        bound: The bound.
        references: The times that it is compared with, of the same problem.
    """
    infeasible = not math.isfinite(bound.seconds)
    bound_s = None if infeasible else bound.seconds
    slow_s = references.slow_s if references.slow_valid else None
    prices = None if infeasible else bound.prices
    return BoundRecord(
        input=name,
        target=problem.target.name,
        cost_model=problem.cost_model.value,
        capacity_bytes=problem.target.capacity,
        max_slices=problem.target.copy_engine.max_slices,
        bound_s=bound.seconds,
        infeasible=infeasible,
        slow_s=references.slow_s,
        xla_s=references.xla_s,
        slow_gap=gap(slow_s, bound_s),
        xla_gap=gap(references.xla_s, bound_s),
        price_s_per_mib=None if prices is None else prices.fast_memory * _MIB,
        price_s_per_gbps=None if prices is None else prices.copy_bandwidth * _GB,
        runtime_s=bound.runtime,
        instructions=() if prices is None else tuple(_instructions(problem, prices)),
    )


def bound_parts(row: BoundRecord, limit: int) -> Iterator[RenderableType]:
    """What there is to say to people, one part after the other.

    Args:
        row: The figures.
        limit: The most instructions to list.
    """
    head = title(row.input, row.capacity_bytes, row.cost_model, row.target)
    if row.infeasible:
        yield head
        yield ""
        yield "No valid map exists (proven): what must be in fast memory does not fit."
        return
    yield facts_table(
        head,
        {
            "lower bound": time_text(row.bound_s),
            "all in slow memory": above_bound(row.slow_s, row.slow_gap),
            **_compiler_facts(row),
            "1 MiB more of fast memory": _lowers(row.price_s_per_mib),
            "1 GB/s more for copies": _lowers(row.price_s_per_gbps),
            "found in": f"{row.runtime_s:.1f} s",
        },
    )
    if row.instructions:
        yield ""
        yield _price_table(row.instructions[:limit])
        yield from left_out(len(row.instructions), limit, "instructions")


def _compiler_facts(row: BoundRecord) -> dict[str, str]:
    """The time of the compiler's own answer, if the input carries one that is valid."""
    if row.xla_s is None:
        return {}
    return {XLA_ANSWER: above_bound(row.xla_s, row.xla_gap)}


def _instructions(problem: Problem, prices: Prices) -> Iterator[InstructionPrice]:
    least = max(_NEGLIGIBLE * prices.fast_memory, _LEAST_SHOWN_S / _MIB)
    for t in np.argsort(-prices.capacity, kind="stable"):
        price = float(prices.capacity[t])
        if not price > least:
            break
        name = problem.program.instructions[t].name
        yield InstructionPrice(int(t), name, price * _MIB)


def _lowers(seconds: float | None) -> str:
    if seconds is None:
        return MISSING
    if seconds < _LEAST_SHOWN_S:
        return "would lower the bound by nothing"
    return f"would lower the bound by about {time_text(seconds)}"


def _price_table(prices: tuple[InstructionPrice, ...]) -> Table:
    table = new_table(["fast memory is worth most at"], ["a MiB more saves"])
    for x in prices:
        table.add_row(
            printable(f"{x.instruction} {x.name}"), time_text(x.price_s_per_mib)
        )
    return table
