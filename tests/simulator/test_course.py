"""The course of a run: when instructions, stalls and copies happen."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from named_problems import NAMED
from strategies import memory_maps, problems

from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.simulator import Simulator
from hybridalloc.simulator.course import Activity, Course
from hybridalloc.understanding.serving import Serving

CHAIN = NAMED["a chain"]
EVICTED = Allocation(1, 0, 0, 3, eviction=Eviction(1, 2))


def play(problem: Problem, memory_map: MemoryMap) -> Course:
    times = Serving(problem, memory_map).run_times()
    return Simulator(problem).play(memory_map, times)


def test_an_eviction_that_idle_time_does_not_hide_stalls_until_it_is_complete() -> None:
    # Three instructions of 10, 10 and 16 s; the second has 2 s of idle time for 8 s.
    course = play(CHAIN, MemoryMap((EVICTED,)))
    assert [(x.activity, x.index, x.end_s) for x in course.spans] == [
        (Activity.RUN, 0, 10.0),
        (Activity.RUN, 1, 20.0),
        (Activity.STALL, 2, 26.0),
        (Activity.RUN, 2, 42.0),
    ]
    (copy,) = course.transfers
    assert (copy.issued_s, copy.start_s, copy.end_s, copy.size) == (10.0, 10.0, 26.0, 8)
    assert course.stall_s.tolist() == [0.0, 0.0, 6.0, 0.0]
    assert course.waiting_s.tolist() == [[0.0, 0.0], [0.0, 8.0], [0.0, 0.0]]


def test_copies_of_one_queue_follow_one_another() -> None:
    # The first instruction takes 16 s and leaves no idle time; all are due after it.
    fetched = [Allocation(0, 8 * i, 0, 1, Origin.PREFETCHED, 1) for i in range(3)]
    course = play(CHAIN, MemoryMap(tuple(fetched)))
    times = [(x.start_s, x.end_s) for x in course.transfers]
    assert times == [(16.0, 24.0), (24.0, 32.0), (32.0, 40.0)]


def test_trips_that_repeat_are_one_span() -> None:
    looped = NAMED["a value carried by a loop"]  # five trips
    course = play(looped, MemoryMap())
    (repeat,) = [x for x in course.spans if x.activity is Activity.REPEAT]
    assert repeat.trips == 4
    assert course.time_s == Simulator(looped).slow_s


@given(data=st.data())
def test_the_course_is_what_the_simulator_says_without_gaps(
    data: st.DataObject,
) -> None:
    problem = data.draw(problems())
    memory_map = data.draw(memory_maps(problem))
    course = play(problem, memory_map)
    simulation = Simulator(problem).simulate(memory_map)
    assert course.time_s == pytest.approx(simulation.time_s, rel=1e-9)
    assert math.fsum(course.stall_s) == pytest.approx(simulation.stall_s, rel=1e-9)
    assert all(a.end_s == b.start_s for a, b in pairwise(course.spans))
    for queue in range(2):
        copies = [x for x in course.transfers if x.queue == queue]
        assert all(x.issued_s <= x.start_s <= x.end_s for x in copies)
        ends = [x.end_s for x in copies]
        assert ends == pytest.approx(sorted(ends))
        assert not ends or max(ends) <= course.time_s * (1 + 1e-9)
