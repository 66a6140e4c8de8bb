"""The report of a benchmark, of records that are made up.

Whoever changes the page on purpose renews the one written down with
``python tests/report/benchmark/test_benchmark_report.py``.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from trial_records import failure, proof, search

from hybridalloc.benchmarking.records import Ending, TrialRecord
from hybridalloc.report.benchmark import Contents, write_report
from hybridalloc.report.benchmark.overview import overview
from hybridalloc.report.benchmark.page import page
from hybridalloc.report.benchmark.pictures import pictures
from hybridalloc.report.records import Record

GOLDEN = Path(__file__).parents[2] / "golden" / "benchmark.md"


def records() -> list[TrialRecord]:
    """Two programs and two strategies, a failure, a skip, a warning, and a proof."""
    history = ((0.5, 3.0, "fast"), (1.5, 1.0, "fast"))
    skipped = failure("gru", "late", "the program carries no estimates")
    return [
        search("gru", "fast", 1.0, history=history),
        search("lstm", "fast", 1.999, xla_s=2.0, history=((2.5, 1.999, "fast"),)),
        search("gru", "late", 2.5, bound_s=0.5, instructions=400),
        search("lstm", "late", 2.0, warnings=("a bound was left out",)),
        proof("gru", 0.8),
        proof("lstm", 2.1),
        failure("net", "fast", "the process ended with code 7: a|b"),
        replace(skipped, facts=replace(skipped.facts, ending=Ending.SKIPPED)),
    ]


def shown() -> str:
    """The page of these records."""
    contents = Contents.of(records(), missing=1)
    figures = {"roofline-10s": ["figures/sorted-speed-ups-roofline-10s.svg"]}
    return page(contents, figures)


def test_the_page_is_that_written_down() -> None:
    assert shown() == GOLDEN.read_text(encoding="utf-8")


def test_the_page_links_to_the_pictures_that_are_beside_it(tmp_path: Path) -> None:
    write_report(tmp_path, Contents.of(records()))
    text = (tmp_path / "report.md").read_text()
    drawn = sorted((tmp_path / "figures").iterdir())
    assert [x.name for x in drawn] == [
        "quality-over-time-roofline-10s.svg",
        "sorted-speed-ups-roofline-10s.svg",
    ]
    for path in drawn:
        assert f"](figures/{path.name})" in text
        ElementTree.fromstring(path.read_text())


def test_the_same_records_give_the_same_bytes(tmp_path: Path) -> None:
    (section,) = Contents.of(records()).sections
    assert pictures(section) == pictures(section)


def test_json_has_every_figure(tmp_path: Path) -> None:
    write_report(tmp_path, Contents.of(records(), tolerance=0.001))
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["format"], report["tolerance"]) == ("hybridalloc/benchmark", 0.001)
    (section,) = report["sections"]
    assert (section["cost_model"], section["time_limit_s"]) == ("roofline", 10.0)
    assert len(section["measurements"]) == 4
    first = section["measurements"][0]
    assert (first["program"], first["vs_xla"], first["gap"]) == ("gru", 2.0, 0.25)
    assert first["history"] == [[0.5, 3.0, "fast"], [1.5, 1.0, "fast"]]
    assert section["quality"][0]["points"][0][0] == 1.0
    assert len(report["failures"]) == 3  # one trial; the bound of lstm refuted twice


def test_a_benchmark_where_nothing_succeeds_has_a_report_all_the_same(
    tmp_path: Path,
) -> None:
    write_report(tmp_path, Contents.of([failure("net", "fast", "no")]))
    assert "| fast on net (roofline, 10 s, seed 0) | no |" in (
        (tmp_path / "report.md").read_text()
    )
    assert list(overview(Contents.of([failure("net", "fast", "no")]))) == []


def test_a_section_without_any_map_has_a_report(tmp_path: Path) -> None:
    write_report(tmp_path, Contents.of([search("a", "s", None, xla_s=None)]))
    assert "| `s` | 1 (1 without a map) | - | - | - | - |" in (
        (tmp_path / "report.md").read_text()
    )


@pytest.mark.parametrize("strategy", ["x" * 100, 'best(a,$b$)@5s>c(d="_^\\")'])
def test_any_text_of_a_strategy_can_be_drawn(strategy: str) -> None:
    (section,) = Contents.of([search("a", strategy, 1.0)]).sections
    for drawn in pictures(section).values():
        ElementTree.fromstring(drawn)


def test_sections_of_one_cost_model_and_limit_have_pictures_of_their_own() -> None:
    one = search("a", "s", 1.0)
    answer = one.answer
    assert isinstance(answer, Record)
    other = replace(
        one,
        trial=replace(one.trial, given_capacity_bytes=4096),
        answer=replace(answer, capacity_bytes=4096),
    )
    names = [x.name for x in Contents.of([one, other]).sections]
    assert names == ["roofline-10s", "roofline-10s-2"]


if __name__ == "__main__":
    GOLDEN.write_text(shown(), encoding="utf-8")
