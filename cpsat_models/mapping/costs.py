"""The time of each instruction, by which of its accesses fast memory serves.

Under either cost model it is the largest of a few linear *terms* (``Costs``). A further
observed placement replaces it: where the accesses served fast are exactly that
placement, each term is lowered to what was observed. All is rounded down (``units``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hybridalloc.cost_model import Costs, compile_costs
from hybridalloc.cpsat_models.mapping.units import Units, idle_slack
from hybridalloc.cpsat_models.mapping.variables import Linear, Lit, Variables


@dataclass(frozen=True, slots=True)
class Term:
    """A linear lower bound of an instruction's time."""

    constant: int
    """Units with nothing in fast memory."""
    changes: tuple[int, ...]
    """(accesses,): units more if fast memory serves this one."""

    def value(self, placement: frozenset[int]) -> int:
        """Units if fast memory serves these accesses, as indices."""
        return self.constant + sum(self.changes[i] for i in placement)

    @property
    def most(self) -> int:
        """The largest value."""
        return self.constant + sum(x for x in self.changes if x > 0)


@dataclass(frozen=True, slots=True)
class InstructionTime:
    """The time of one instruction, as expressions in units."""

    traffic: Linear
    """What its accesses take that slow memory serves."""
    terms: tuple[Linear, ...]
    """It takes as long as the largest of these."""
    most: int
    """No term is larger."""
    slack: int
    """How much longer than it takes, less its traffic, copies may run beside it."""


def instruction_times(variables: Variables, units: Units) -> list[InstructionTime]:
    """(T,): how long each instruction runs, and how long copies run beside it."""
    problem = variables.problem
    costs = compile_costs(problem)
    first = costs.first_access.tolist()
    slow = [units.down(x) for x in costs.slow_s.tolist()]
    times = []
    for t, instruction in enumerate(problem.program.instructions):
        fast: list[Lit] = [
            variables.fast.get((t, access.buffer), variables.model.false)
            for access in instruction.accesses
        ]
        own = slow[first[t] : first[t + 1]]
        traffic: Linear = sum(x * ~y for x, y in zip(own, fast, strict=True))
        terms = list(_terms(costs, units, t))
        seen = [
            (placement, max(units.down(x), *(y.value(placement) for y in terms[:2])))
            for placement, x in _seen(costs, t)
        ]
        most = max(*(x.most for x in terms), *(truth for _, truth in seen))
        bounds = tuple(_bounds(variables, fast, terms, seen))
        times.append(InstructionTime(traffic, bounds, most, idle_slack(len(own))))
    return times


def _bounds(
    variables: Variables,
    fast: list[Lit],
    terms: list[Term],
    seen: list[tuple[frozenset[int], int]],
) -> Iterator[Linear]:
    """The terms as expressions, lowered where a placement was observed exactly."""
    exactly = [_is_exactly(variables, fast, placement) for placement, _ in seen]
    for term in terms:
        bound: Linear = term.constant + sum(
            change * literal
            for change, literal in zip(term.changes, fast, strict=True)
            if change
        )
        for (placement, truth), literal in zip(seen, exactly, strict=True):
            if (excess := term.value(placement) - truth) > 0:
                bound -= excess * literal
        yield bound
    for (_, truth), literal in zip(seen, exactly, strict=True):
        yield truth * literal


def _terms(costs: Costs, units: Units, t: int) -> Iterator[Term]:
    """The terms of ``Costs`` as one list, the roofline's two first.

    With nothing in fast memory, ``line_s`` and ``R + extra_s`` come to ``empty_s``, so
    they hold there too. Where there is neither, the time is at least ``empty_s``, and
    rises to ``floor_s`` with the first access in fast memory, whichever it is.
    """
    low, high = costs.first_access[t], costs.first_access[t + 1]
    count = int(high - low)
    slow = [units.down(x) for x in costs.slow_s[low:high].tolist()]
    fast = [units.down(x) for x in costs.fast_s[low:high].tolist()]
    none = (0,) * count
    compute, memory = units.down(float(costs.compute_s[t])), sum(slow)
    change = tuple(y - x for x, y in zip(slow, fast, strict=True))
    yield Term(compute, none)
    yield Term(memory, change)
    extra, floor = units.down(float(costs.extra_s[t])), float(costs.floor_s[t])
    line, slope = float(costs.line_s[t]), float(costs.slope_s[t])
    if extra:
        yield Term(compute + extra, none)
        yield Term(memory + extra, change)
    if line:
        moved = costs.access_bytes[low:high].tolist()
        yield Term(units.down(floor), none)
        yield Term(units.down(line), tuple(-units.up(slope * x) for x in moved))
    elif floor:  # more than ``empty_s``
        empty, most = units.down(float(costs.empty_s[t])), units.down(floor)
        yield Term(empty, none)
        for i in range(count):
            yield Term(empty, (*none[:i], most - empty, *none[i + 1 :]))


def _seen(costs: Costs, t: int) -> Iterator[tuple[frozenset[int], float]]:
    """The further observations: accesses of the instruction, as indices; seconds."""
    first = int(costs.first_access[t])
    for k in range(int(costs.first_seen[t]), int(costs.first_seen[t + 1])):
        low, high = costs.first_seen_access[k], costs.first_seen_access[k + 1]
        placement = np.asarray(costs.seen_access[low:high]) - first
        yield frozenset(placement.tolist()), float(costs.seen_s[k])


def _is_exactly(
    variables: Variables, fast: list[Lit], placement: frozenset[int]
) -> Lit:
    """Whether fast memory serves exactly these accesses."""
    model = variables.model
    literals = [x if i in placement else ~x for i, x in enumerate(fast)]
    exactly = model.literal()
    for literal in literals:
        model.add_implication(exactly, literal)
    model.add_bool_or(exactly, *(~literal for literal in literals))
    return exactly
