"""The constraint that queues are first in, first out."""

from __future__ import annotations

from collections.abc import Iterator

from hybridalloc.cpsat_models.mapping.bodies import Queue
from hybridalloc.cpsat_models.mapping.variables import (
    CopyVariables,
    Linear,
    Lit,
    Model,
)


def first_in_first_out(model: Model, queue: Queue, due: int, done: Linear) -> None:
    """At a due point, what was issued before a copy due there is done as well.

    For each issue point of such copies: if one is issued there or later, what was
    issued before that is done.

    Args:
        model: To add to.
        queue: The copies of one body.
        due: The point.
        done: The work that is done then.
    """
    waiting = [copy for copy in queue.copies if due in copy.window.dues]
    thresholds = {q for copy in waiting for q in copy.window.issues if q <= due}
    for threshold in sorted(thresholds):
        model.require_time()
        terms = list(_ahead(model, queue, due, threshold))
        if not any(overtakes for _, _, overtakes in terms):
            continue
        late = model.literal()
        for copy in waiting:
            _implied_if_late(model, copy, due, threshold, late)
        ahead: Linear = sum(work * literal for work, literal, _ in terms)
        model.add(done >= ahead).only_enforce_if(late)


def _implied_if_late(
    model: Model, copy: CopyVariables, due: int, threshold: int, late: Lit
) -> None:
    """It is, if a copy is due at this very point and issued so late."""
    ready = copy.ready_by(due)
    if threshold > copy.window.issues[-1] or ready is None:
        return
    earlier = copy.ready_by(due - 1), copy.issued_by(threshold - 1)
    model.add_bool_or(~ready, late, *(x for x in earlier if x is not None))


def _ahead(
    model: Model, queue: Queue, due: int, threshold: int
) -> Iterator[tuple[int, Lit, bool]]:
    """What is done when a copy is that is due at a point and issued so late.

    Yields:
        Work, whether it counts, and whether it is of a copy that may be due later.
    """
    for copy, work in zip(queue.copies, queue.works, strict=True):
        issued, ready = copy.issued_by(threshold - 1), copy.ready_by(due)
        if copy.window.dues[-1] <= due or issued is None:
            if ready is not None:
                yield work, ready, False
        elif ready is None:
            yield work, issued, True
        else:
            either = model.literal()
            model.add_implication(issued, either)
            model.add_implication(ready, either)
            yield work, either, True
