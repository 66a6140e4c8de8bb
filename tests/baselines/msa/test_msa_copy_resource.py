"""Bandwidth shared out first in, first out, counted by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybridalloc.baselines.msa.copy_resource import AsyncCopy, CopyResource


def resource(
    *copies: AsyncCopy, limit: int = 9, wanted: int | None = None
) -> CopyResource:
    """Of ten instructions of a second each, with these copies."""
    made = CopyResource(np.ones(10), limit, wanted)
    for copy in copies:
        made.add(copy)
    return made


def test_a_copy_has_what_runs_between_its_ends() -> None:
    """Issued after 0, complete before 5: 1, 2, 3 and 4."""
    assert resource().fits((0, 5, 4.0))
    assert not resource().fits((0, 5, 4.5))
    assert resource().fits((-1, 5, 5.0))


def test_a_copy_waits_for_those_issued_before_it() -> None:
    """The first is complete at 5, the second a second later."""
    assert resource((0, 5, 4.0)).fits((1, 6, 1.0))
    assert not resource((0, 5, 4.0)).fits((1, 6, 1.5))
    assert not resource((0, 5, 4.0)).fits((1, 5, 0.5))


def test_a_copy_must_not_make_those_behind_it_late() -> None:
    """Before 1 there is a second; the copy behind it has none to spare."""
    assert resource((0, 5, 4.0)).fits((-1, 3, 1.0))
    assert not resource((0, 5, 4.0)).fits((-1, 3, 1.5))


def test_delay_is_passed_on_from_copy_to_copy() -> None:
    """One second more for the first makes the third late, and not the second."""
    queue = resource((0, 5, 2.0), (2, 6, 2.0), (4, 7, 2.0), limit=9)
    assert queue.fits((-1, 3, 1.0))
    assert not queue.fits((-1, 3, 1.5))


def test_a_gap_in_the_queue_ends_the_delay() -> None:
    """The first is complete at 3, and 5 is the next issue."""
    queue = resource((0, 5, 2.0), (4, 7, 2.0))
    assert queue.fits((0, 5, 2.0))
    assert not queue.fits((0, 5, 2.5))


def test_a_copy_of_no_seconds_always_fits() -> None:
    assert resource((0, 5, 4.0)).fits((1, 2, 0.0))


def test_several_copies_fit_only_together() -> None:
    assert resource().fits((0, 5, 2.0), (2, 5, 2.0))
    assert not resource().fits((0, 5, 3.0), (2, 5, 2.0))


def test_trying_several_copies_leaves_none_behind() -> None:
    tried = resource()
    tried.fits((0, 5, 2.0), (2, 5, 2.0))
    tried.fits((0, 5, 3.0), (2, 5, 2.0))
    assert tried.fits((0, 5, 4.0))
    assert tried.may_overlap(2, 0, 9)


def test_so_many_copies_overlap_as_touch_the_interval() -> None:
    """The first is due before 3, and counts for what is issued then, after 2."""
    two = resource((0, 3, 1.0), (4, 8, 1.0), wanted=2)
    assert not two.may_overlap(1, 2, 7)
    assert two.may_overlap(1, 2, 4), "the second is issued at 5"
    assert two.may_overlap(1, 3, 7)
    assert not two.may_overlap(2, 3, 7)
    assert two.may_overlap(2, 3, 7, extra=1)
    most = resource((0, 3, 1.0), (4, 8, 1.0), limit=2, wanted=2)
    assert not most.may_overlap(2, 3, 7, extra=1), "more than there may ever be"


def test_order_is_kept_if_what_is_issued_first_is_due_first() -> None:
    one = resource((2, 6, 1.0))
    assert one.ordered(1, 6)
    assert one.ordered(3, 7)
    assert one.ordered(2, 9), "issued at one point"
    assert not one.ordered(1, 7)
    assert not one.ordered(3, 5)


COPIES = st.lists(
    st.tuples(st.integers(-1, 7), st.integers(1, 8), st.sampled_from([0.5, 1.0, 2.0]))
    .map(lambda x: (x[0], min(9, x[0] + x[1]), x[2]))
    .filter(lambda x: x[0] < x[1]),
    max_size=12,
)


def finished(copies: list[AsyncCopy]) -> bool:
    """Whether all copies are complete in time, by the definition."""
    done = 0.0
    for issue, due, seconds in copies:
        done = max(done, issue + 1.0) + seconds
        if done > due:
            return False
    return True


@given(COPIES)
def test_a_copy_fits_if_and_only_if_all_are_complete_in_time(
    copies: list[AsyncCopy],
) -> None:
    """Copies go in one by one where they fit, and every other one comes out again."""
    queue, inside = resource(limit=99), list[AsyncCopy]()
    for number, copy in enumerate(copies):
        longer = sorted([*inside, copy], key=lambda x: x[0])
        assert queue.fits(copy) == finished(longer)
        if queue.fits(copy):
            queue.add(copy)
            inside = longer
        if number % 2 and inside:
            queue.remove(inside.pop(0))
