"""The constraints on when copies run."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from hybridalloc.cpsat_models.mapping.variables import CopyVariables, Lit, Variables


def constrain_copies(variables: Variables, *, limit_outstanding: bool) -> None:
    """All constraints of this module.

    Args:
        variables: Of the model.
        limit_outstanding: Whether to keep to the target's limits.
    """
    fetches, evictions = variables.fetches, variables.evictions
    for copy in (*fetches, *evictions):
        variables.model.require_time()
        in_order(variables, copy.issued)
        in_order(variables, copy.ready)
        issued_before_due(variables, copy)
        loop_copy(variables, copy)
    if limit_outstanding:
        engine = variables.problem.target.copy_engine
        prefetches = [x for life in variables.lives for x in life.fetches.values()]
        outstanding(variables, prefetches, engine.max_outstanding_prefetches)
        outstanding(variables, evictions, engine.max_outstanding_evictions)


def in_order(variables: Variables, literals: tuple[Lit, ...]) -> None:
    """What has happened by one point has happened by the next."""
    for earlier, later in pairwise(literals):
        variables.model.add_implication(earlier, later)


def issued_before_due(variables: Variables, copy: CopyVariables) -> None:
    """A copy is issued at the latest at the point at which it is due."""
    for point, ready in zip(copy.window.dues, copy.ready, strict=True):
        issued = copy.issued_by(point)
        if issued is None:
            variables.model.add_bool_or(~ready)
        elif issued is not ready:
            variables.model.add_implication(ready, issued)


def loop_copy(variables: Variables, copy: CopyVariables) -> None:
    """A copy in a loop's body does not reach from its first point to its last."""
    if not copy.window.spans_body:
        return
    in_time = copy.ready[-2] if len(copy.ready) > 1 else variables.model.false
    variables.model.add_implication(copy.issued[0], in_time)


def outstanding(
    variables: Variables, copies: Iterable[CopyVariables], most: int
) -> None:
    """No more copies are outstanding at a point than the target allows.

    One that is issued and due at one point counts there.
    """
    copies = list(copies)
    points = sorted({point for copy in copies for point in copy.window.issues})
    for point in points:
        variables.model.require_time()
        running = [_running(variables, copy, point) for copy in copies]
        literals = [literal for literal in running if literal is not None]
        if len(literals) > most:
            variables.model.add(sum(literals) <= most)


def _running(variables: Variables, copy: CopyVariables, point: int) -> Lit | None:
    """Whether a copy is outstanding at a point; None: it cannot be."""
    window, model = copy.window, variables.model
    if point > window.dues[-1]:
        return None
    issued, due = copy.issued_by(point), copy.ready_by(point)
    if issued is None or due is None:
        return issued
    before = copy.issued_by(point - 1)
    running = model.literal()
    model.add_bool_or(~issued, due, running)
    if issued is not before:  # issued just here: it counts even if due here
        model.add_bool_or(~issued, running, *(() if before is None else (before,)))
    return running
