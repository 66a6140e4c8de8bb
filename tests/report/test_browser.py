"""Pages in a real browser; skipped where there is no Chromium or no Playwright."""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from named_problems import NAMED
from pages import EVICTED, HOSTILE, SLICED, hostile_problem, single

from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.report.picture import draw

api = pytest.importorskip("playwright.sync_api")
CHAIN = NAMED["a chain"]
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
ASSETS = files("hybridalloc.report.picture.web") / "assets"
SCRIPTS = Path(__file__).parents[2] / "scripts"
ARROWS = ("Left", "Right", "Up", "Down")
PRESS = """(key) => document.body.dispatchEvent(
  new KeyboardEvent("keydown", { key, bubbles: true }))"""
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)))"

STATE = """() => [
  ...["found", "details"].map((id) => document.getElementById(id).textContent),
  document.getElementById("search").value,
  document.documentElement.dataset.theme,
  document.getElementById("keys").hidden,
  document.activeElement.id,
  ...[...document.querySelectorAll(".plot canvas")].map((x) => x.toDataURL()),
]"""
"""All of a page that its keys and buttons may change."""


@dataclass(frozen=True)
class Shown:
    """A page in the browser, and what went wrong there."""

    page: Any
    failures: list[str]

    def text(self, selector: str) -> str:
        """What an element says, once all is drawn."""
        self.page.evaluate(DRAWN)
        return str(self.page.text_content(selector))

    def hover(self, plot: int, across: float, up: float) -> str:
        """What the tooltip says at a place within a plot, in parts of its sides."""
        box = self.page.locator(".u-over").nth(plot).bounding_box()
        x, y = box["x"] + across * box["width"], box["y"] + (1 - up) * box["height"]
        self.page.mouse.move(x, y)
        self.page.evaluate(DRAWN)
        hidden = self.page.locator("#tooltip").is_hidden()
        return "" if hidden else " ".join(self.page.inner_text("#tooltip").split())

    def state(self) -> list[Any]:
        """All that a key or a button may change."""
        self.page.evaluate(DRAWN)
        return list(self.page.evaluate(STATE))

    def image(self, plot: int = 0) -> str:
        """The picture of a plot, as text that differs if it does."""
        self.page.evaluate(DRAWN)
        canvas = self.page.locator(".plot canvas").nth(plot)
        return str(canvas.evaluate("canvas => canvas.toDataURL()"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        yield started
        started.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Draws a map as a page and opens it; all must go well there until the end."""
    failures: list[str] = []
    contexts: list[Any] = []

    def open_page(
        problem: Problem, memory_map: MemoryMap, scheme: str = "light", **options: Any
    ) -> Shown:
        path = tmp_path / f"map{len(contexts)}.html"
        draw(problem, memory_map, path, **options)
        contexts.append(
            browser.new_context(
                color_scheme=scheme,
                offline=True,
                viewport={"width": 1280, "height": 1200},
            )
        )
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.on("console", lambda said: failures.append(said.text))
        page.on("dialog", lambda dialog: failures.append(dialog.message))
        page.on(
            "request",
            lambda request: (
                None if request.url == path.as_uri() else failures.append(request.url)
            ),
        )
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        return Shown(page, failures)

    yield open_page
    for context in contexts:
        context.close()
    assert failures == []


def test_a_page_has_title_figures_and_a_plot_for_each_panel(show: Any) -> None:
    shown = show(CHAIN, MemoryMap((SLICED, EVICTED)))
    assert shown.text("h1") == "named"
    assert "2 allocations" in shown.text(".map")
    assert shown.page.locator(".plot canvas").count() == 6
    legend = "producedprefetchedbeing fetchedbeing evictedcapacity"
    assert shown.text("#legend") == legend
    assert shown.text("#details").startswith("Point at a rectangle")


def test_a_rectangle_under_the_pointer_tells_all_of_its_allocation(show: Any) -> None:
    shown = show(CHAIN, MemoryMap((SLICED, EVICTED)))
    assert shown.hover(0, 0.9, 0.1) == (
        "x size 8 B (8 B) bytes [0, 8) instructions [0, 3) from 0 i0 time 36 s of one "
        "run origin produced evicted issued at 1, due at 2 saves 12 s, copies apart"
    )
    assert "w size 8 B (8 B) bytes [8, 16)" in shown.hover(0, 0.5, 0.3)
    assert "prefetched in 2 slices: issued at 0, ready at 2" in shown.hover(0, 0.5, 0.3)
    assert shown.hover(0, 0.5, 0.9) == ""


def test_a_panel_under_the_pointer_tells_of_the_instruction(show: Any) -> None:
    shown = show(CHAIN, MemoryMap((EVICTED,)))
    assert shown.hover(5, 0.5, 0.5) == (
        "1 i1 all in slow memory 16 s this map 10 s computation 0 s"
    )
    assert shown.hover(3, 0.5, 0.5) == "1 i1 prefetches 0 s evictions 8 s"


def test_search_counts_what_it_finds_and_goes_from_one_to_the_next(show: Any) -> None:
    shown = show(CHAIN, MemoryMap((SLICED, EVICTED)))
    before = shown.image()
    shown.page.keyboard.press("/")
    shown.page.keyboard.type("X")
    assert shown.text("#found") == "1"
    assert shown.image() != before
    shown.page.keyboard.press("Enter")
    assert shown.text("#found") == "1 of 1"
    assert shown.text("#details").startswith("x  size 8 B")
    for text, found in (("out", "only in slow memory"), ("nope", "no such buffer")):
        shown.page.fill("#search", text)
        assert shown.text("#found") == found
    shown.page.keyboard.press("Escape")
    assert shown.text("#found") == ""
    assert shown.image() == before


def test_the_wheel_zooms_time_where_the_pointer_is_and_a_key_shows_all(
    show: Any,
) -> None:
    shown = show(CHAIN, MemoryMap((EVICTED,)))
    assert shown.hover(5, 0.98, 0.5).startswith("2 i2")
    shown.hover(5, 0.05, 0.5)
    for _ in range(5):
        shown.page.mouse.wheel(0, -120)
    assert shown.hover(5, 0.98, 0.5).startswith("0 i0")
    shown.page.keyboard.press("0")
    assert shown.hover(5, 0.97, 0.5).startswith("2 i2")


@pytest.mark.parametrize(("keys", "found"), [("+++++", "1 i1"), ("++++<<<", "0 i0")])
def test_keys_zoom_and_move(show: Any, keys: str, found: str) -> None:
    shown = show(CHAIN, MemoryMap((EVICTED,)))
    for key in keys:
        shown.page.keyboard.press("ArrowLeft" if key == "<" else key)
    assert shown.hover(5, 0.1, 0.5).startswith(found)


def test_dragging_moves_what_is_in_view(show: Any) -> None:
    shown = show(CHAIN, MemoryMap((EVICTED,)))
    for _ in range(5):
        shown.page.keyboard.press("+")
    assert shown.hover(0, 0.5, 0.1).startswith("x")
    before = shown.image()
    shown.page.mouse.down()
    shown.page.mouse.move(100, 300, steps=4)
    shown.page.mouse.up()
    assert shown.image() != before


def test_light_and_dark_follow_the_system_and_the_key(show: Any) -> None:
    looks = []
    for scheme in ("light", "dark"):
        shown = show(CHAIN, MemoryMap((EVICTED,)), scheme)
        paper = "getComputedStyle(document.body).backgroundColor"
        first = shown.page.evaluate(paper), shown.image()
        shown.page.keyboard.press("t")
        looks += [first, (shown.page.evaluate(paper), shown.image())]
    assert looks[0] == looks[3]
    assert looks[1] == looks[2]
    assert looks[0][0] == "rgb(255, 255, 255)"
    assert looks[0][0] != looks[1][0]
    assert looks[0][1] != looks[1][1]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_shown_as_it_is(show: Any, name: str) -> None:
    shown = show(*hostile_problem(name))
    kept = "".join(c if c.isprintable() else " " for c in name)
    assert shown.text("h1") == kept
    assert shown.hover(0, 0.5, 0.3).startswith(" ".join(f"{kept} size".split()))
    shown.page.fill("#search", kept)
    assert shown.text("#found") == ("2" if kept else "")
    assert shown.page.locator("body script").count() == 2
    assert shown.page.locator("img").count() == 0


def test_an_empty_map_says_so(show: Any) -> None:
    shown = show(CHAIN, MemoryMap())
    assert "nothing in fast memory" in shown.text(".memory")
    assert shown.hover(5, 0.5, 0.5).startswith("1 i1")


def test_a_program_of_one_instruction_can_be_zoomed(show: Any) -> None:
    shown = show(*single())
    for key in ("+", "+", "]", "ArrowLeft", "ArrowDown", "ArrowDown"):
        shown.page.keyboard.press(key)
    assert shown.hover(0, 0.5, 0.1).startswith("x")
    assert shown.hover(5, 0.5, 0.5).startswith("0 i0")


def test_two_maps_share_what_is_in_view_and_what_is_searched_for(show: Any) -> None:
    labels = ("one", "other")
    maps = MemoryMap((SLICED,)), MemoryMap((EVICTED,))
    shown = show(CHAIN, maps[0], beside=maps[1], labels=labels)
    assert shown.page.locator(".map").count() == 2
    before = [shown.image(plot) for plot in (0, 7)]
    shown.page.keyboard.press("+")
    assert all(
        shown.image(plot) != image for plot, image in zip((0, 7), before, strict=True)
    )
    shown.page.get_by_role("button", name="x", exact=True).click()
    assert shown.page.input_value("#search") == "x"
    assert "B: other" in shown.text("#details")


LABELS = {
    "all": ("bytes", 2**27, [0, 2**24, 2**25], ["0", "16 MiB", "32 MiB"]),
    "quarters": ("bytes", 2**20, [0, 2**18, 2**19], ["0", "0.25 MiB", "0.5 MiB"]),
    "a little apart": (
        *("bytes", 2**27, [2**26 + x * 2**14 for x in range(3)]),
        ["64 MiB", "64.02 MiB", "64.03 MiB"],
    ),
    "bytes apart": (
        *("bytes", 2**27, [2**26, 2**26 + 4, 2**26 + 8]),
        ["67108864 B", "67108868 B", "67108872 B"],
    ),
    "bytes": ("bytes", 40, [0, 16, 32], ["0", "16 B", "32 B"]),
    "seconds": ("seconds", 2.5, [0, 0.5, 1], ["0", "0.5 s", "1 s"]),
    "times apart": (
        *("seconds", 1.3, [1.2345678, 1.2345679, 1.234568]),
        ["1.2345678 s", "1.2345679 s", "1.234568 s"],
    ),
    "short times": ("seconds", 3e-5, [1e-5, 2e-5], ["10 µs", "20 µs"]),
    "one": ("seconds", 3e-3, [1.23456e-3], ["1.23 ms"]),
    "none": ("bytes", 1, [], []),
    "parts": ("parts", 1, [0, 0.25, 0.5], ["0", "0.25", "0.5"]),
}


@pytest.mark.parametrize(
    ("unit", "top", "ticks", "labels"), LABELS.values(), ids=LABELS
)
def test_labels_of_ticks_differ(
    browser: Any, unit: str, top: float, ticks: list[float], labels: list[str]
) -> None:
    script = (ASSETS / "format.js").read_text(encoding="utf-8")
    page = browser.new_page()
    made = f"([unit, top, ticks]) => {{ {script}; return tickText(unit, top)(ticks); }}"
    assert page.evaluate(made, [unit, top, ticks]) == labels
    page.close()


def test_arrows_in_the_list_of_differences_scroll_it(show: Any) -> None:
    shown = show(CHAIN, MemoryMap((SLICED,)), beside=MemoryMap((EVICTED,)))
    for key in "+]":
        shown.page.keyboard.press(key)
    before = shown.image()
    for place in ("#differences div", "#differences button >> nth=0"):
        shown.page.locator(place).focus()
        for arrow in ("ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft"):
            shown.page.keyboard.press(arrow)
            assert shown.image() == before
    shown.page.keyboard.press("+")
    assert shown.image() != before


def test_a_chosen_buffer_is_searched_for_from_the_start(show: Any) -> None:
    shown = show(CHAIN, MemoryMap((SLICED, EVICTED)), buffer="w", x="time")
    assert shown.page.input_value("#search") == "w"
    assert shown.text("#found") == "1"


def test_every_button_on_the_page_does_something(show: Any) -> None:
    shown = show(CHAIN, MemoryMap((SLICED, EVICTED)), buffer="x")
    shown.page.keyboard.press("+")  # so that there is more to show, on all sides
    for button in shown.page.locator("#tools button").all():
        before = shown.state()
        button.click()
        assert shown.state() != before, button.get_attribute("id")


def test_every_key_that_the_page_lists_does_something(show: Any) -> None:
    shown = show(CHAIN, MemoryMap((SLICED, EVICTED)), buffer="x")
    shown.page.keyboard.press("?")
    listed = shown.page.locator("#keys kbd").all_inner_texts()
    names = {"Esc": "Escape", "Shift": "Shift+Enter"}
    names |= {x: f"Arrow{name}" for x, name in zip("←→↑↓", ARROWS, strict=True)}
    assert {"n", "p", "?", "t", "/", "0", "Enter", *"+-[]", *names} == set(listed)
    for key in listed:
        shown.page.fill("#search", "")
        shown.page.fill("#search", "x")  # forgets what was found
        if key not in ("Enter", "Shift"):
            shown.page.locator("#search").blur()
        for zoom in "0++]]":
            shown.page.evaluate(PRESS, zoom)
        before = shown.state()
        shown.page.keyboard.press(names.get(key, key))
        assert shown.state() != before, key


def test_a_page_of_5000_allocations_is_small_and_answers(
    show: Any, tmp_path: Path
) -> None:
    # How quick it is depends on the machine: scripts/bench_page.py measures it.
    script = runpy.run_path(str(SCRIPTS / "bench_page.py"))
    problem, memory_map = script["made"](5000, 5000)
    assert len(memory_map) == 5000
    shown = show(problem, memory_map)
    assert (tmp_path / "map0.html").stat().st_size < 2e6
    before = shown.image()
    shown.page.keyboard.press("+")
    assert shown.image() != before
    shown.page.fill("#search", "a buffer of the program.4999")
    assert shown.text("#found") == "1"
