"""Copies that hide in idle time, beside formulas for whole vectors and trials."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import problems

from hybridalloc.arrays import Floats
from hybridalloc.baselines.plan import Plan
from hybridalloc.baselines.queue import Queue
from hybridalloc.loops import Loops
from hybridalloc.problem import Problem
from hybridalloc.stays import candidate_stays

POINTS = 12
SECONDS = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])
"""Sums of these are exact."""
WORK = st.sampled_from([0.25, 0.5, 1.0, 2.0])


@st.composite
def clocks(draw: st.DrawFn) -> Floats:
    """Idle time before each of a few points."""
    idle = draw(st.lists(SECONDS, min_size=POINTS, max_size=POINTS))
    return np.concatenate(([0.0], np.cumsum(idle)))


@st.composite
def copies(draw: st.DrawFn) -> tuple[int, int, float]:
    """Issue, due point and work."""
    issue = draw(st.integers(0, POINTS))
    return issue, draw(st.integers(issue, POINTS)), draw(WORK)


def waiting(several: list[tuple[int, int, float]]) -> Queue[int]:
    """A queue of copies."""
    queue: Queue[int] = Queue()
    for name, copy in enumerate(several):
        queue.add(name, *copy)
    return queue


@given(clocks(), st.lists(copies(), max_size=6))
def test_copies_are_done_one_after_the_other(
    clock: Floats, several: list[tuple[int, int, float]]
) -> None:
    """Each when those before it are, and it is issued, and its work is done."""
    queue, done = waiting(several), -np.inf
    expected = []
    for issue, _, work in zip(*queue.copies, strict=True):
        done = max(done, clock[issue]) + work
        expected.append(done)
    assert queue.times(clock).done.tolist() == expected


@given(clocks(), st.lists(copies(), max_size=6))
def test_what_copies_do_not_use_is_free(
    clock: Floats, several: list[tuple[int, int, float]]
) -> None:
    """The free time before a point and the work that is done by then add up to it."""
    queue = waiting(several)
    times = queue.times(clock)
    free = queue.free(clock, times, 0, POINTS)
    for point in range(POINTS + 1):
        begun = times.done - queue.copies.work
        worked = np.clip(clock[point] - begun, 0.0, queue.copies.work).sum()
        assert free[:point].sum() + worked == pytest.approx(clock[point])


def on_time(clock: Floats, several: list[tuple[int, int, float]], place: int) -> bool:
    """Whether, of copies in order, those from a place on are complete when due."""
    done, punctual = -np.inf, True
    for number, (issue, due, work) in enumerate(several):
        done = max(done, clock[issue]) + work
        punctual = punctual and (number < place or done <= clock[due])
    return punctual


@given(clocks(), st.lists(copies(), max_size=5), copies())
def test_the_latest_issue_is_the_last_at_which_nothing_is_made_late(
    clock: Floats, drawn: list[tuple[int, int, float]], copy: tuple[int, int, float]
) -> None:
    """Neither it nor a copy behind it is late: found by trying points and places."""
    several: list[tuple[int, int, float]] = []
    for one in drawn:
        if on_time(clock, sorted([*several, one]), 0):
            several = sorted([*several, one])
    earliest, due, work = copy
    possible = [
        issue
        for issue in range(earliest, due + 1)
        for place in range(len(several) + 1)
        if all(x[0] <= issue for x in several[:place])
        and all(x[0] >= issue for x in several[place:])
        and on_time(
            clock, [*several[:place], (issue, due, work), *several[place:]], place
        )
    ]
    queue = waiting(several)
    found = queue.latest_issue(clock, queue.times(clock), due, work, earliest)
    assert found == max(possible, default=-1)


@given(st.data(), problems())
def test_a_clock_that_is_kept_up_to_date_shows_what_one_made_anew_does(
    data: st.DataObject, problem: Problem
) -> None:
    plan, loops = Plan(problem, Loops(problem.program)), Loops(problem.program)
    stays = list(candidate_stays(problem, loops))
    for stay in (
        data.draw(st.lists(st.sampled_from(stays), max_size=8)) if stays else ()
    ):
        if overlapping := plan.overlapping(stay):
            plan.take_out(overlapping[0])
        else:
            plan.place(stay, may_stall=True)
        assert plan.engine.clock[0] == 0.0
    anew = Plan(problem, loops)
    for placed in (one for group in plan.placed for one in group):
        anew.put(placed)
    assert plan.engine.clock.tolist() == pytest.approx(anew.engine.clock.tolist())
