"""How large and how quick the page of a large map is, in headless Chromium.

    python scripts/bench_page.py [--instructions N] [--allocations N] [--maps 1|2]

Prints the size of the page, the seconds until it answers, and the frames a second while
the wheel zooms and while the pointer drags. It needs Chromium and Playwright
(``pip install playwright``), whose own browsers are not used.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hybridalloc.io.target_file import get_target
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Instruction, Program
from hybridalloc.report.picture import draw

TARGET = get_target("tpu-v4i")
SLOT = 2**20
LEAST, FILLED = 4, 0.95
"""The fewest instructions for which a buffer lives, and the part of fast memory that is
filled."""
TURNS = 60
COUNT_FRAMES = """() => {
  window.frames_ = [];
  const count = (t) => { window.frames_.push(t); requestAnimationFrame(count); };
  requestAnimationFrame(count);
}"""
IS_DRAWN = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


def main(
    instructions: Annotated[int, typer.Option(min=LEAST)] = 5000,
    allocations: Annotated[int, typer.Option(min=1)] = 5000,
    maps: Annotated[int, typer.Option(min=1, max=2)] = 1,
) -> None:
    """Make a page, open it, zoom and drag."""
    from playwright.sync_api import sync_playwright

    problem, first = made(instructions, allocations)
    fewer = (x for i, x in enumerate(first.allocations) if i % 7)
    beside = MemoryMap(tuple(fewer)) if maps == 2 else None
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "map.html"
        started = time.perf_counter()
        draw(problem, first, page, beside=beside)
        print(f"{time.perf_counter() - started:.2f} s to write")
        print(f"{page.stat().st_size / 1e6:.2f} MB")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            for what, value in measured(browser, page).items():
                print(f"{what}: {value:.2f}")
            browser.close()


def made(instructions: int, allocations: int) -> tuple[Problem, MemoryMap]:
    """A program of short-lived buffers, and a valid map that fills fast memory.

    Of each three one is fetched, one stays where it is produced, one is evicted too.
    """
    generator = np.random.default_rng(0)
    slots = TARGET.capacity // SLOT
    mean = FILLED * slots * instructions / allocations
    free = np.arange(slots)
    found: list[Allocation] = []
    for i in range(allocations):
        slot = int(free.argmin())
        start, length = int(free[slot]), LEAST + int(generator.exponential(mean))
        end = min(start + length, instructions)
        free[slot] = end
        if end - start >= LEAST:
            found.append(_allocation(len(found), slot, start, end, i % 3))
    return _problem(instructions, found), MemoryMap(tuple(found))


def _allocation(buffer: int, slot: int, start: int, end: int, kind: int) -> Allocation:
    place = (buffer, slot * SLOT, start, end)
    if kind == 0:
        return Allocation(*place, Origin.PREFETCHED, start + 2)
    copy = Eviction(start + 1, start + 3) if kind == 1 else None
    return Allocation(*place, eviction=copy)


def _problem(instructions: int, allocations: list[Allocation]) -> Problem:
    """Produced buffers are written as they begin; all are read at their end."""
    accesses: list[list[Access]] = [[] for _ in range(instructions)]
    for x in allocations:
        if not x.has_copy:
            accesses[x.start].append(Access(x.buffer, write_bytes=SLOT, whole=True))
        accesses[x.end - 1].append(Access(x.buffer, read_bytes=SLOT))
    steps = tuple(
        Instruction(f"fusion.{t}", 4e-6 * (t % 3), tuple(accesses[t]))
        for t in range(instructions)
    )
    buffers = tuple(
        Buffer(f"a buffer of the program.{i}", SLOT, is_input=x.has_copy)
        for i, x in enumerate(allocations)
    )
    return Problem(Program("large", steps, buffers), TARGET)


def measured(browser: Any, path: Path) -> dict[str, float]:
    """Seconds until the page answers, and frames a second of its motions."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    started = time.perf_counter()
    page.goto(path.as_uri())
    page.keyboard.press("+")
    page.evaluate(IS_DRAWN)
    found = {"seconds until it answers": time.perf_counter() - started}
    page.evaluate(COUNT_FRAMES)
    found["frames a second, zooming"] = _rate(page, _zoom)
    found["frames a second, dragging"] = _rate(page, _drag)
    page.close()
    return found


def _rate(page: Any, motion: Callable[[Any], None]) -> float:
    page.keyboard.press("0")
    page.evaluate(IS_DRAWN)
    page.evaluate("() => { window.frames_.length = 0; }")
    motion(page)
    page.evaluate(IS_DRAWN)
    times: list[float] = page.evaluate("() => window.frames_")
    return 1000 * (len(times) - 1) / (times[-1] - times[0])


def _zoom(page: Any) -> None:
    page.mouse.move(400, 400)
    for turn in range(TURNS):
        page.mouse.wheel(0, -30 if turn < TURNS // 2 else 30)


def _drag(page: Any) -> None:
    page.mouse.move(400, 400)
    page.mouse.down()
    for turn in range(TURNS):
        page.mouse.move(400 + 5 * (turn % 20), 400)
    page.mouse.up()


if __name__ == "__main__":
    typer.run(main)
