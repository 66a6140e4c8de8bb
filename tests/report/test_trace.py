"""Traces for Perfetto: events at the times of the simulation."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from named_problems import NAMED
from pages import EVICTED, HOSTILE, SLICED, hostile_problem
from strategies import memory_maps, problems

from hybridalloc.errors import UsageError
from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.report.trace import write_trace
from hybridalloc.simulator import simulate

CHAIN = NAMED["a chain"]


def events(
    folder: Path, problem: Problem, memory_map: MemoryMap, **options: Any
) -> list[dict[str, Any]]:
    """What is in the trace of a map."""
    write_trace(problem, memory_map, folder / "trace.json", **options)
    found = json.loads((folder / "trace.json").read_text(encoding="utf-8"))
    assert found["displayTimeUnit"] == "ns"
    return list(found["traceEvents"])


def lasting(found: list[dict[str, Any]]) -> list[tuple[str, str, float, float]]:
    """Kind, name, and when in seconds they begin and end, of all that takes time."""
    return [
        (x["cat"], x["name"], x["ts"] / 1e6, (x["ts"] + x["dur"]) / 1e6)
        for x in found
        if x["ph"] == "X"
    ]


def test_instructions_stalls_and_copies_are_where_the_run_has_them(
    tmp_path: Path,
) -> None:
    found = events(tmp_path, CHAIN, MemoryMap((EVICTED,)))
    assert lasting(found) == [
        ("instruction", "i0", 0.0, 10.0),
        ("instruction", "i1", 10.0, 20.0),
        ("stall", "stall before i2", 20.0, 26.0),
        ("instruction", "i2", 26.0, 42.0),
        ("copy", "x", 10.0, 26.0),
    ]
    names = [x["args"]["name"] for x in found if x["ph"] == "M"]
    assert names == ["named", "instructions", "prefetches", "evictions"]


def test_a_counter_has_the_bytes_that_are_held_where_they_change(
    tmp_path: Path,
) -> None:
    memory_map = MemoryMap((Allocation(1, 0, 0, 2), Allocation(2, 8, 1, 2)))
    counted = [x for x in events(tmp_path, CHAIN, memory_map) if x["ph"] == "C"]
    assert [(x["ts"] / 1e6, x["args"]["bytes"]) for x in counted] == [
        (0.0, 8),
        (10.0, 16),
        (14.0, 0),
    ]


def test_trips_that_repeat_are_one_event(tmp_path: Path) -> None:
    looped = NAMED["a value carried by a loop"]
    found = lasting(events(tmp_path, looped, MemoryMap()))
    (repeat,) = [x for x in found if x[0] == "loop"]
    assert repeat[1] == "4 more trips of the loop [1, 3)"
    assert repeat[3] - repeat[2] == 128.0


def test_two_maps_are_two_processes(tmp_path: Path) -> None:
    maps = MemoryMap((SLICED,)), MemoryMap((EVICTED,))
    found = events(tmp_path, CHAIN, maps[0], beside=maps[1], labels=("old", "new"))
    named = {x["pid"]: x["args"]["name"] for x in found if x["name"] == "process_name"}
    assert named == {1: "A: old", 2: "B: new"}
    copies = [(x["pid"], x["tid"]) for x in found if x.get("cat") == "copy"]
    assert copies == [(1, 2), (1, 2), (2, 3)]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_only_text(tmp_path: Path, name: str) -> None:
    found = lasting(events(tmp_path, *hostile_problem(name)))
    kept = "".join(c if c.isprintable() else " " for c in name)
    assert {x[1] for x in found if x[0] == "instruction"} == {kept}


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_what_takes_time_on_one_thread_does_not_overlap(
    tmp_path: Path, data: st.DataObject
) -> None:
    problem = data.draw(problems())
    memory_map = data.draw(memory_maps(problem))
    threads = defaultdict(list)
    for event in events(tmp_path, problem, memory_map):
        if event["ph"] == "X":
            start, lasts = (round(1000 * event[x]) for x in ("ts", "dur"))
            threads[event["tid"]].append((start, start + lasts))
    for spans in threads.values():
        assert all(one[1] <= other[0] for one, other in pairwise(spans))
    end = max(spans[-1][1] for spans in threads.values()) if threads else 0
    nanoseconds = 1e9 * simulate(problem, memory_map).time_s
    assert end == pytest.approx(nanoseconds, rel=1e-9, abs=1)


def test_a_map_without_places_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no offset"):
        write_trace(CHAIN, MemoryMap((Allocation(1, None, 0, 2),)), tmp_path / "t.json")
