"""Names in pictures for print, whatever they hold."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from pages import HOSTILE, hostile_problem

from hybridalloc.report.picture import draw, fonts
from hybridalloc.report.picture.printed import printed

NO_FONT_HAS = "\U0010fffd"


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
@pytest.mark.parametrize("name", [*HOSTILE, "$x_{\n漢\x00<&>", NO_FONT_HAS])
def test_unusual_names_are_drawn_without_a_warning(
    tmp_path: Path, name: str, suffix: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / f"map{suffix}"
    draw(*hostile_problem(name), path, buffer=0)
    assert path.stat().st_size > 10_000
    assert not caplog.records
    if suffix == ".svg":
        ET.parse(path)


def test_a_character_without_a_font_is_escaped_and_others_stay() -> None:
    assert fonts.drawable(f"a β {NO_FONT_HAS}") == "a β \\U0010fffd"


def test_a_font_that_is_installed_shows_what_the_first_one_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another family that comes with matplotlib stands in for one of the system."""
    sign = "\ue000"  # of STIX, not of DejaVu
    assert fonts.drawable(sign) == "\\ue000"
    fonts.families.cache_clear()
    fonts._fonts.cache_clear()
    monkeypatch.setattr(fonts, "OTHERS", ("STIXNonUnicode", "no such font"))
    try:
        assert fonts.families() == ["DejaVu Sans", "STIXNonUnicode"]
        assert fonts.drawable(sign) == sign
        assert printed(lambda: _page_of(sign), ".png").startswith(b"\x89PNG")
    finally:
        fonts.families.cache_clear()
        fonts._fonts.cache_clear()


def _page_of(text: str) -> Figure:
    figure = Figure()
    figure.text(0, 0, text)
    return figure
