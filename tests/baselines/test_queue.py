"""When copies must be issued to be on time."""

from __future__ import annotations

import numpy as np
import pytest

from hybridalloc.arrays import Floats
from hybridalloc.baselines.queue import Queue

CLOCK = np.arange(11.0)
"""Ten instructions with one second of idle time each."""


def queue(*copies: tuple[int, int, float]) -> Queue[int]:
    """Copies by issue, due point and work, named 0, 1, ..."""
    waiting: Queue[int] = Queue()
    for name, (issue, due, work) in enumerate(copies):
        waiting.add(name, issue, due, work)
    return waiting


def latest_issue(
    waiting: Queue[int], clock: Floats, due: int, work: float, earliest: int = 0
) -> int:
    """The latest issue point of one more copy."""
    return waiting.latest_issue(clock, waiting.times(clock), due, work, earliest)


def lateness(waiting: Queue[int]) -> float:
    """That of the latest copy; one more without work, at the end, changes nothing."""
    return waiting.lateness_with(CLOCK, issue=10, due=10, work=0.0)


def test_a_copy_alone_is_issued_just_in_time() -> None:
    assert latest_issue(queue(), CLOCK, 8, 2.5, 0) == 5


def test_a_copy_that_cannot_be_in_time_has_no_issue_point() -> None:
    assert latest_issue(queue(), CLOCK, 2, 2.5, 0) == -1
    assert latest_issue(queue(), CLOCK, 8, 2.5, 6) == -1


def test_instructions_without_idle_time_are_waited_through() -> None:
    clock = np.array([0.0, 1.0, 1.0, 1.0, 2.0])
    assert latest_issue(queue(), clock, 4, 1.0, 0) == 3
    assert latest_issue(queue(), clock, 3, 1.0, 0) == 0


def test_copies_are_done_one_after_the_other() -> None:
    """The first from 1 to 4, the second, issued at 2, from 4 to 6."""
    waiting = queue((2, 9, 2.0), (1, 5, 3.0))
    assert waiting.times(CLOCK).done.tolist() == [4.0, 6.0]
    assert lateness(waiting) == 0.0
    assert lateness(queue((1, 5, 3.0), (2, 5, 2.0))) == 1.0


def test_a_copy_waits_for_those_before_it() -> None:
    """Idle until 6 is needed by the other; from 3 on it would be done at 5 + 1."""
    waiting = queue((2, 6, 3.0))
    assert latest_issue(waiting, CLOCK, 6, 1.0, 0) == 5
    assert latest_issue(waiting, CLOCK, 6, 2.0, 0) == 1


def test_a_copy_does_not_make_those_after_it_late() -> None:
    """The other needs all idle time from 3 to 6; so this one is done by 3."""
    waiting = queue((3, 6, 3.0))
    assert latest_issue(waiting, CLOCK, 7, 2.0, 0) == 1
    assert latest_issue(waiting, CLOCK, 8, 2.0, 0) == 6


def test_at_one_point_the_copy_that_is_due_first_goes_first() -> None:
    waiting = queue((1, 9, 4.0), (1, 3, 2.0))
    assert waiting.copies.due.tolist() == [3, 9]
    assert lateness(waiting) == 0.0


def test_a_copy_can_be_asked_about_without_putting_it_in() -> None:
    """Before the other, it is done at 3, and the other at 6 instead of 5."""
    waiting = queue((1, 5, 3.0))
    assert waiting.lateness_with(CLOCK, issue=1, due=3, work=2.0) == 1.0
    assert waiting.lateness_with(CLOCK, issue=4, due=6, work=2.0) == 0.0
    assert waiting.copies.issue.tolist() == [1]
    assert lateness(waiting) == 0.0


def test_idle_time_is_free_where_no_copy_progresses() -> None:
    """Copies progress from 2.0 to 3.5 and from 5.0 to 5.5."""
    waiting = queue((2, 9, 1.5), (5, 9, 0.5))
    times = waiting.times(CLOCK)
    free = waiting.free(CLOCK, times, 0, 10)
    assert free.tolist() == pytest.approx([1, 1, 0, 0.5, 1, 0.5, 1, 1, 1, 1])
    assert waiting.free(CLOCK, times, 3, 10, enough=1.5).tolist() == [0.5, 1.0]
    assert waiting.free(CLOCK, times, 3, 4, enough=1.5).tolist() == [0.5]
    alone = queue()
    assert alone.free(CLOCK, alone.times(CLOCK), 0, 2).tolist() == [1.0, 1.0]


def test_a_copy_can_be_taken_out_again() -> None:
    waiting = queue(*((i % 9, 10, 0.1) for i in range(100)))
    for name in range(99):
        waiting.remove(name)
    assert waiting.copies.issue.tolist() == [99 % 9]
    assert waiting.copies.work.tolist() == [0.1]
