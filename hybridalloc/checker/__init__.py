"""The checker: whether a memory map is valid, and if not, all that is wrong with it.

It follows docs/model.md, "Valid maps", rule by rule: one function a rule, with the
rule's name, in ``space`` (where allocations lie), ``copies`` (when copies run) and
``content`` (whether what is read is the current value). It knows no solver and no cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hybridalloc.checker import content, copies, space
from hybridalloc.checker.facts import Facts
from hybridalloc.checker.violation import Rule, Violation
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem

__all__ = ["Rule", "Violation", "check"]

_RULES: tuple[Callable[[Facts], Iterator[Violation]], ...] = (
    space.buffer,
    space.pinned,
    space.range_,
    space.offset,
    space.reserved,
    space.overlap,
    space.slices,
    content.content,
    copies.eviction,
    copies.loop_copy,
    copies.outstanding,
    copies.cross_program,
)
_ORDER = {rule: number for number, rule in enumerate(Rule)}


def check(problem: Problem, memory_map: MemoryMap) -> tuple[Violation, ...]:
    """Every violation of the rules of docs/model.md, "Valid maps", in their order.

    A map that is wrong in several ways may break one rule because it broke another;
    both are reported. Each pair of allocations that overlaps is a violation of its own.

    Args:
        problem: The program and the target; the cost model does not matter.
        memory_map: Any map that can be constructed, however wrong; the checker does
            not raise on it.

    Returns:
        The violations; empty if the map is valid.
    """
    facts = Facts(problem, memory_map)
    violations = [violation for rule in _RULES for violation in rule(facts)]
    return tuple(sorted(violations, key=lambda x: _ORDER[x.rule]))
