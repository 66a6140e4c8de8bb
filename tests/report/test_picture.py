"""Pictures of memory maps: what they show, and that they can be drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from named_problems import NAMED, problem, reads
from strategies import memory_maps, problems

from hybridalloc.errors import InputError, UsageError
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin, Slice
from hybridalloc.program import Buffer
from hybridalloc.report.picture import draw
from hybridalloc.report.picture.amounts import draw_panel, panel_top, show_seconds
from hybridalloc.report.picture.loops import loop_depths
from hybridalloc.report.picture.memory import byte_scale, tick_step
from hybridalloc.report.picture.panels import Role, Unit, panels, steps
from hybridalloc.report.picture.scene import (
    Emphasis,
    Phase,
    Scene,
    XAxis,
    rectangles,
)
from hybridalloc.report.picture.words import facts, headline, remark, shortened
from hybridalloc.solving import solve

CHAIN = NAMED["a chain"]
MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
SLICED = Allocation(
    *(0, 8, 0, 3, Origin.PREFETCHED, 2),
    slices=(Slice(4, 1), Slice(4, 0)),
)
"""The input of the chain, its upper half fetched first."""
EVICTED = Allocation(1, 0, 0, 3, eviction=Eviction(1, 2))


def scene(*allocations: Allocation, axis: XAxis = XAxis.INSTRUCTION) -> Scene:
    return Scene.of(CHAIN, MemoryMap(allocations), axis)


def test_slices_arrive_at_their_own_issue_and_stay_together() -> None:
    shown = [
        (x.phase, x.low, x.high, x.start, x.end) for x in rectangles(scene(SLICED))
    ]
    assert shown == [
        (Phase.ARRIVING, 8, 12, 1, 2),
        (Phase.ARRIVING, 12, 16, 0, 2),
        (Phase.RESIDENT, 8, 16, 2, 3),
    ]


def test_an_eviction_is_a_phase_of_its_own() -> None:
    shown = [(x.phase, x.start, x.end) for x in rectangles(scene(EVICTED))]
    assert shown == [
        (Phase.RESIDENT, 0, 1),
        (Phase.LEAVING, 1, 2),
        (Phase.RESIDENT, 2, 3),
    ]


def test_the_time_axis_is_the_run_time_without_stalls() -> None:
    shown = scene(SLICED, EVICTED, axis=XAxis.TIME)
    simulation = shown.simulation
    assert shown.width == pytest.approx(simulation.time_s - simulation.stall_s)
    assert shown.all_slow_s.tolist() == [16.0, 16.0, 16.0]  # 8 bytes in, 8 out
    assert shown.now_s.tolist() == [10.0, 10.0, 16.0]  # 8 of 16 bytes at 4 B/s


def test_a_loop_counts_with_all_its_trips() -> None:
    looped = NAMED["a value carried by a loop"]
    shown = Scene.of(looped, MemoryMap(), XAxis.TIME)
    assert shown.all_slow_s.tolist() == [8.0, 80.0, 80.0, 16.0]
    assert shown.width == shown.slow_s


def test_what_is_shown_begins_where_time_does() -> None:
    late = problem((Buffer("w", 8, is_input=True),), (), (), (reads(0),), (reads(0),))
    shown = Scene.of(late, MemoryMap(), XAxis.INSTRUCTION)
    assert (shown.first, shown.left, shown.width) == (2, 2.0, 2.0)
    assert [shown.at(point) for point in (0, 2, 3, 4, 9)] == [2.0, 2.0, 3.0, 4.0, 4.0]


def test_many_steps_become_fewer_that_keep_the_highest() -> None:
    long = problem((), *((),) * 300)
    shown = Scene.of(long, MemoryMap(), XAxis.INSTRUCTION)
    values, edges = steps(shown, np.arange(300.0), 100)
    assert values.tolist() == list(range(2, 300, 3))
    assert edges.tolist() == list(range(0, 301, 3))


def test_what_belongs_to_the_width_of_instructions_is_averaged() -> None:
    long = problem((), *((),) * 300)
    shown = Scene.of(long, MemoryMap(), XAxis.INSTRUCTION)
    values, _ = steps(shown, np.arange(300.0), 100, spread=True)
    assert values == pytest.approx(list(range(1, 300, 3)))


def test_on_the_axis_of_time_an_instruction_counts_in_parts_of_its_width() -> None:
    shown = scene(SLICED, EVICTED, axis=XAxis.TIME)
    (*_, times) = panels(shown)
    assert times.unit is Unit.PARTS
    slow, now, _ = (steps(shown, x.amounts, 9, spread=True)[0] for x in times.lines)
    assert slow == pytest.approx([1.6, 1.6, 1.0])
    assert now == pytest.approx([1.0, 1.0, 1.0])


def test_the_panels_tell_of_bytes_queues_stalls_and_times() -> None:
    # As in the title below: the eviction is issued at 1, and 6 s of it stall at 2.
    amounts = {
        line.role: line.amounts.tolist()
        for panel in panels(scene(EVICTED))
        for line in panel.lines
    }
    assert amounts == {
        Role.HELD: [8.0, 8.0, 8.0],
        Role.LIVE: [16.0, 16.0, 16.0],
        Role.FETCHES: [0.0, 0.0, 0.0],
        Role.EVICTIONS: [0.0, 8.0, 0.0],
        Role.STALLS: [0.0, 0.0, 6.0],
        Role.SLOW: [16.0, 16.0, 16.0],
        Role.NOW: [10.0, 10.0, 16.0],
        Role.COMPUTE: [0.0, 0.0, 0.0],
    }


def test_what_is_waited_for_at_the_end_counts_with_the_last_instruction() -> None:
    shown = scene(Allocation(1, 0, 0, 3, eviction=Eviction(2, 3)))
    assert shown.stall_s.tolist() == [0.0, 0.0, 8.0]


def test_beside_another_map_a_panel_has_what_is_lost_to_it() -> None:
    (*_, lost), (*_, gained) = (
        panels(scene(EVICTED), scene()),
        panels(scene(), scene(EVICTED)),
    )
    assert lost.lines[0].amounts.tolist() == [0.0, 0.0, 6.0]
    assert gained.lines[0].amounts.tolist() == [6.0, 6.0, 0.0]
    assert lost.title == "time lost to the other map, stalls included: 6 s"


def test_a_panel_with_nothing_in_it_has_a_0_and_no_unit() -> None:
    axes = Figure().subplots()
    shown = scene()
    stalls = panels(shown)[3]
    draw_panel(axes, shown, stalls, panel_top(shown, stalls))
    assert (axes.get_yticks().tolist(), axes.get_ylabel()) == ([0], "")
    draw_panel(axes, shown, stalls, 0.5)
    assert axes.get_ylabel() == "ms"


def test_what_both_maps_have_at_the_same_time_stands_back() -> None:
    moved = replace(EVICTED, offset=16)
    one, other = scene(SLICED, EVICTED), scene(moved)
    assert Emphasis.of(one, other, None) == Emphasis(frozenset({1}))
    assert Emphasis.of(other, one, None) == Emphasis(frozenset({0}))
    assert Emphasis.of(one, None, 0) == Emphasis(frozenset({1}), outlined=True)
    # The copies of one take 16 s, and idle time hides 4 s; those of the other 8 and 2.
    assert remark(other, None, one) == (
        "faded: 1 of 1 allocations, which the other map has too, at whatever offsets; "
        "this map takes 6 s less"
    )


def test_loops_know_how_deep_they_are() -> None:
    assert loop_depths(NAMED["loops within and beside loops"].program) == [0, 1, 0]


def test_units_and_ticks_suit_what_is_shown() -> None:
    assert byte_scale(2**27) == (2**20, "MiB")
    assert byte_scale(2**34) == (2**30, "GiB")
    assert byte_scale(40) == (1, "B")
    assert tick_step(128) == 16
    axis = Figure().add_subplot().yaxis
    assert show_seconds(axis, 3e-4) == "µs"
    assert axis.get_major_formatter()(1.5e-4) == "150"


def test_the_title_has_time_target_cost_model_and_peak() -> None:
    # Reads and writes of x at 4 B/s: 10 + 10 + 16 s. Its eviction has 8 s of work and
    # finds 2 s of idle time in the one instruction before it is due: 6 s of stall.
    shown = scene(EVICTED)
    assert headline(shown) == "42 s,  1.143x as fast as all in slow memory"  # 48 / 42
    assert list(facts(shown))[:4] == [
        "small, 32 B",
        "simulated: roofline",
        "peak 8 B",
        "1 allocation",
    ]
    assert remark(shown, None) == ""
    assert remark(shown, 1) == "x, 8 B: 1 allocation"


def test_the_title_says_first_what_is_wrong_with_a_map() -> None:
    shown = scene(Allocation(1, 28, 0, 2))
    assert remark(shown, 1).startswith("NOT VALID: allocation 0 of buffer x")


def test_long_texts_lose_their_middle() -> None:
    assert shortened("abc\ndef", 20) == "abc def"
    assert shortened("a" * 50 + "b" * 50, 20) == "a" * 16 + "…" + "b" * 4


@pytest.mark.parametrize("suffix", MAGIC)
def test_the_same_map_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    names = ["one" + suffix, "two" + suffix]
    for name in names:
        draw(CHAIN, MemoryMap((SLICED, EVICTED)), tmp_path / name)
    one, two = ((tmp_path / name).read_bytes() for name in names)
    assert one.startswith(MAGIC[suffix])
    assert one == two
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_the_users_own_style_neither_matters_nor_changes(tmp_path: Path) -> None:
    draw(CHAIN, MemoryMap(), tmp_path / "one.svg")
    style: Any = {"lines.linewidth": 9, "savefig.facecolor": "red"}
    with matplotlib.rc_context(style):
        draw(CHAIN, MemoryMap(), tmp_path / "two.svg")
        assert matplotlib.rcParams["lines.linewidth"] == 9
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_a_chosen_buffer_and_the_axis_change_the_picture(tmp_path: Path) -> None:
    drawn = set()
    for x, buffer in ((XAxis.INSTRUCTION, None), (XAxis.TIME, None), ("time", "#0")):
        draw(
            CHAIN, MemoryMap((SLICED, EVICTED)), tmp_path / "a.svg", x=x, buffer=buffer
        )
        drawn.add((tmp_path / "a.svg").read_bytes())
    assert len(drawn) == 3


def test_two_maps_are_drawn_beside_each_other(tmp_path: Path) -> None:
    one, other = MemoryMap((SLICED,)), MemoryMap((EVICTED,))
    for name in ("one.svg", "two.svg"):
        beside = other if name == "two.svg" else None
        draw(CHAIN, one, tmp_path / name, beside=beside, labels=("old", "new"))
    sizes = [(tmp_path / name).stat().st_size for name in ("one.svg", "two.svg")]
    assert sizes[1] > 1.5 * sizes[0]


@pytest.mark.parametrize("name", NAMED)
def test_an_answer_to_each_named_problem_can_be_drawn(
    tmp_path: Path, name: str
) -> None:
    answer = solve(NAMED[name], "random", iterations=1).map
    assert answer is not None
    draw(NAMED[name], answer, tmp_path / "map.svg", x="time")
    assert (tmp_path / "map.svg").stat().st_size > 1000


def test_a_map_that_reaches_past_the_end_of_the_program_is_drawn(
    tmp_path: Path,
) -> None:
    draw(CHAIN, MemoryMap((Allocation(1, 0, 0, 9),)), tmp_path / "map.png")
    assert (tmp_path / "map.png").exists()


@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data(), x=st.sampled_from(XAxis))
def test_any_map_can_be_drawn(tmp_path: Path, data: st.DataObject, x: XAxis) -> None:
    drawn = data.draw(problems())
    draw(drawn, data.draw(memory_maps(drawn)), tmp_path / "map.png", x=x)
    assert (tmp_path / "map.png").read_bytes().startswith(MAGIC[".png"])


@pytest.mark.parametrize(
    ("allocation", "message"),
    [
        (Allocation(1, None, 0, 2), "allocation 0, of buffer x, has no offset"),
        (Allocation(9, 0, 0, 2), r"buffer index 9 is not in \[0, 4\)"),
    ],
)
def test_a_map_without_places_or_buffers_is_refused(
    tmp_path: Path, allocation: Allocation, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        draw(CHAIN, MemoryMap((allocation,)), tmp_path / "map.png")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("map.gif", {}, r"map\.gif: expected a name that ends in \.html, \.png,"),
        ("map", {}, "map: expected a name that ends in"),
        ("map.png", {"x": "bytes"}, "'bytes': expected 'instruction' or 'time'"),
        (
            "map.png",
            {"buffer": "outt"},
            "unknown buffer 'outt' of named; did you mean out",
        ),
        ("map.png", {"buffer": "q"}, "unknown buffer 'q' of named; "),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    tmp_path: Path, name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        draw(CHAIN, MemoryMap(), tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write this file"):
        draw(CHAIN, MemoryMap(), tmp_path / "missing" / "map.png")
