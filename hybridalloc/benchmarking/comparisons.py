"""Strategies against each other, and on programs that have something in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import permutations

from hybridalloc.benchmarking.measurements import BEST, Measurement, Section, known
from hybridalloc.report.records import geometric_mean

SIZES = (100, 300, 1000, 3000)
"""The most instructions of each class of programs; one more class has the rest."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One strategy against another, on the same programs with the same seeds."""

    first: str
    second: str
    runs: int
    mean: float
    """Geometric mean of the second's time over the first's: above 1, the first is
    faster."""
    worst: float
    """The least of these ratios."""
    worst_program: str


def pairs(section: Section) -> tuple[Pair, ...]:
    """Each strategy against each other and against the best of all."""
    names = section.strategies
    others = [*permutations(names, 2)]
    if len(names) > 1:
        others += [(name, BEST) for name in names]
    found = (_pair(section, first, second) for first, second in others)
    return tuple(pair for pair in found if pair is not None)


def _pair(section: Section, first: str, second: str) -> Pair | None:
    theirs = {(x.program, x.seed): x.time_s for x in section.of(second)}
    ratios = [
        (other / own, x.program)
        for x in section.of(first)
        if (own := x.time_s) and (other := theirs.get((x.program, x.seed)))
    ]
    mean = geometric_mean(ratio for ratio, _ in ratios)
    if mean is None:
        return None
    worst, where = min(ratios)
    return Pair(first, second, len(ratios), mean, worst, where)


@dataclass(frozen=True, slots=True)
class Group:
    """Programs that have something in common."""

    label: str
    programs: int
    speedups: tuple[float | None, ...]
    """Of each strategy of the section, over the section's reference."""


def by_family(section: Section) -> tuple[Group, ...]:
    """Speed-ups by family of programs."""
    return _groups(section, lambda x: x.family, sorted)


def by_size(section: Section) -> tuple[Group, ...]:
    """Speed-ups by the number of instructions."""
    labels = [size_class(most) for most in (*SIZES, SIZES[-1] + 1)]
    return _groups(
        section,
        lambda x: size_class(x.instructions),
        lambda found: sorted(found, key=labels.index),
    )


def size_class(instructions: int) -> str:
    """Which class of sizes a program is in.

    >>> size_class(100), size_class(101), size_class(5000)
    ('up to 100', '101 to 300', 'more than 3,000')
    """
    least = 0
    for most in SIZES:
        if instructions <= most:
            return f"{least + 1:,} to {most:,}" if least else f"up to {most:,}"
        least = most
    return f"more than {least:,}"


def _groups(
    section: Section,
    label: Callable[[Measurement], str],
    order: Callable[[Iterable[str]], list[str]],
) -> tuple[Group, ...]:
    groups = []
    for name in order({label(x) for x in section.measurements}):
        members = [x for x in section.measurements if label(x) == name]
        speedups = tuple(_mean(section, members, x) for x in section.strategies)
        groups.append(Group(name, len({x.program for x in members}), speedups))
    return tuple(groups)


def _mean(
    section: Section, members: Iterable[Measurement], strategy: str
) -> float | None:
    own = (x for x in members if x.strategy == strategy)
    return geometric_mean(known(map(section.speedup, own)))
