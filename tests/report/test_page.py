"""Pages for a browser: what is in the file. test_browser.py looks at them in one."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from named_problems import NAMED
from pages import EVICTED, HOSTILE, SLICED, hostile_problem
from strategies import memory_maps, problems

from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.report.picture import XAxis, draw
from hybridalloc.report.picture.panels import panels
from hybridalloc.report.picture.scene import Scene, rectangles

CHAIN = NAMED["a chain"]


def drawn(folder: Path, problem: Problem, memory_map: MemoryMap, **options: Any) -> str:
    """The text of a page."""
    draw(problem, memory_map, folder / "map.html", **options)
    return (folder / "map.html").read_text(encoding="utf-8")


def content(page: str) -> Any:
    """What a page is given."""
    (data,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script', page
    )
    return json.loads(data)


def test_a_page_refers_to_nothing_outside_itself(tmp_path: Path) -> None:
    page = drawn(tmp_path, CHAIN, MemoryMap((SLICED, EVICTED)))
    for sign in ("://", " src=", " href=", "@import", "url(", "import("):
        assert sign not in page
    assert "default-src 'none'" in page


def test_the_notice_of_the_library_that_draws_is_in_the_page(tmp_path: Path) -> None:
    page = drawn(tmp_path, CHAIN, MemoryMap())
    assert "Copyright (c) 2022 Leon Sorokin" in page
    assert "var uPlot=" in page


def test_the_same_map_gives_the_same_page(tmp_path: Path) -> None:
    pages = [drawn(tmp_path, CHAIN, MemoryMap((SLICED,))) for _ in range(2)]
    assert pages[0] == pages[1]


def test_the_page_has_the_rectangles_and_panels_that_are_printed(
    tmp_path: Path,
) -> None:
    memory_map = MemoryMap((SLICED, EVICTED))
    shown = Scene.of(CHAIN, memory_map, XAxis.INSTRUCTION)
    (given_map,) = content(drawn(tmp_path, CHAIN, memory_map))["maps"]
    pieces = given_map["pieces"]
    assert [
        *zip(pieces["low"], pieces["high"], pieces["start"], pieces["end"], strict=True)
    ] == [(x.low, x.high, x.start, x.end) for x in rectangles(shown)]
    for panel, printed in zip(given_map["panels"], panels(shown), strict=True):
        assert panel["title"] == printed.title
        for line, other in zip(panel["lines"], printed.lines, strict=True):
            assert line["values"] == pytest.approx(other.amounts)


def test_an_allocation_tells_what_its_accesses_save(tmp_path: Path) -> None:
    # x is written and read by two instructions, each 16 s from slow memory and 10 s so.
    (given_map,) = content(drawn(tmp_path, CHAIN, MemoryMap((EVICTED,))))["maps"]
    assert given_map["allocations"]["saved"] == [12]


def test_short_times_late_in_a_long_run_are_differences_of_its_clock(
    tmp_path: Path,
) -> None:
    first, *others = CHAIN.program.instructions
    steps = (replace(first, compute_s=1e7 + 0.5), *others)
    long = replace(CHAIN, program=replace(CHAIN.program, instructions=steps))
    page = content(drawn(tmp_path, long, MemoryMap((EVICTED,)), x="time"))
    (given_map,) = page["maps"]
    clock = given_map["clock"]
    assert [clock[2] - clock[1], clock[3] - clock[2]] == [10, 16]
    assert given_map["x"] == clock


def test_two_valid_maps_come_with_the_buffers_that_differ(
    bundled: Path, tmp_path: Path
) -> None:
    problem = read_problem(bundled / "lstm_lm_b64_s128")
    ours = problem.compiler_map
    assert ours is not None
    fewer = MemoryMap(ours.allocations[1:])
    page = content(drawn(tmp_path, problem, ours, beside=fewer, labels=("x", "y")))
    found = page["differences"]
    assert found["buffer"] == [ours.allocations[0].buffer]
    assert found["change"] == ["only A places it"]
    assert found["kinds"].startswith("1 in A only, ")
    assert found["kinds"].endswith(" placed alike")
    assert [x["heading"][:4] for x in page["maps"]] == ["A: x", "B: y"]
    tops = [[panel["top"] for panel in x["panels"]] for x in page["maps"]]
    assert tops[0] == tops[1]


def test_a_map_that_is_not_valid_has_no_list_of_differences(tmp_path: Path) -> None:
    wrong = replace(EVICTED, offset=28)
    page = content(drawn(tmp_path, CHAIN, MemoryMap(), beside=MemoryMap((wrong,))))
    assert page["differences"] is None
    assert page["maps"][1]["remark"].startswith("NOT VALID")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_only_data(tmp_path: Path, name: str) -> None:
    problem, memory_map = hostile_problem(name)
    page = drawn(tmp_path, problem, memory_map)
    before, data, after = re.split(
        r"<script type=\"application/json\"[^>]*>|</script>\n<script>", page
    )
    assert not set("<>&") & set(data)
    kept = "".join(c if c.isprintable() else " " for c in name)
    assert json.loads(data)["buffers"]["name"][0] == kept
    title = html.unescape(re.findall("<title>(.*?)</title>", before)[0])
    assert title == f"{kept} - memory map".encode(errors="replace").decode()
    assert after.count("</script>") == 1


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data(), x=st.sampled_from(XAxis))
def test_any_two_maps_make_a_page(
    tmp_path: Path, data: st.DataObject, x: XAxis
) -> None:
    problem = data.draw(problems())
    maps = data.draw(memory_maps(problem)), data.draw(memory_maps(problem))
    page = content(drawn(tmp_path, problem, maps[0], beside=maps[1], x=x))
    for shown in page["maps"]:
        assert shown["x"] == sorted(shown["x"])
        for panel in shown["panels"]:
            steps = len(panel["edges"]) - 1
            assert {len(line["values"]) for line in panel["lines"]} == {steps}
            assert panel["edges"] == sorted(panel["edges"])
