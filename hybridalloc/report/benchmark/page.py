"""The report of a benchmark as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from hybridalloc.benchmarking.comparisons import Group
from hybridalloc.benchmarking.measurements import BEST, XLA, Section, known
from hybridalloc.benchmarking.summaries import Gap, Summary
from hybridalloc.report.benchmark.contents import Contents, Fault, SectionContents
from hybridalloc.report.benchmark.markdown import table
from hybridalloc.report.benchmark.placements import placement_page
from hybridalloc.report.records import geometric_mean
from hybridalloc.report.units import MISSING, size_text
from hybridalloc.report.words import gap_text, plural

INTRODUCTION = """\
# Benchmarks

This page is made by `hybridalloc bench`. All times are **simulated**, for the target
and under the cost model that each section names; a gain under one cost model need not
be one under another, nor on the chip. Every figure of a strategy is of maps that passed
the checker and the execution oracle. Only robust searches, where there are any, are
given the compiler's own answer.
"""
READING = """\
Means of speed-ups are geometric, over all programs and seeds; above 1, the strategy is
faster. *Gap*: how far the time is above the largest lower bound that is proven for the
program, by whomever; *own gap*: above the one that the strategy proved itself.
*Search*: seconds without reading the program. Peaks of fast memory and the bytes that
copies move, each as often as it runs, are arithmetic means.
"""
AGAINST_HEADS = (
    *("strategy", "runs", "vs XLA", "vs all-slow", "wins / ties / losses", "worst"),
)
ROBUST = """\
These searches start from XLA's own answer, and a map counts only if it is slower than
that under neither cost model. Speed-ups of the same maps over the start, under each:
"""
START_HEADS = ("strategy", "cost model", "vs start", "slower", "worst")
EFFORT_HEADS = (
    *("strategy", "gap: median", "mean", "own gap: median", "mean"),
    *("search: mean, s", "longest, s", "peak", "moved"),
)


def page(
    contents: Contents,
    figures: Mapping[str, Sequence[str]],
    maps: Sequence[str] = (),
) -> str:
    """The page.

    Args:
        contents: What it says.
        figures: The pictures of each section by its name, as paths to link to.
        maps: The names of the files, in the folder of maps, that show one each.
    """
    parts = [INTRODUCTION, _circumstances(contents), READING]
    parts += _faults("Failures", contents.failures)
    for section in contents.sections:
        parts += _section(section, figures.get(section.name, ()), contents.tolerance)
    for placements in contents.placements:
        parts += placement_page(placements)
    parts += _faults("Skipped", contents.skipped)
    parts += _faults("Warnings", contents.warnings)
    if maps:
        links = (f"- [{name.removesuffix('.html')}](maps/{name})\n" for name in maps)
        parts.append("## Maps\n\n" + "".join(links))
    return "\n".join(parts)


def _circumstances(contents: Contents) -> str:
    first, last = contents.first_started[:10], contents.last_started[:10]
    when = first if first == last else f"{first} to {last}"
    at_a_time = plural(contents.processes, "trial", "trials")
    cores = plural(contents.cores, "core", "cores")
    lines = [
        f"Machine: {'; '.join(contents.machines)}; {cores}, {at_a_time} at a time. ",
        f"hybridalloc {', '.join(contents.versions)}; {when}; seeds: ",
        f"{', '.join(map(str, contents.seeds)) or 'none'}.",
    ]
    if contents.missing:
        trials = plural(contents.missing, "trial has", "trials have")
        lines.append(f" **Incomplete**: {trials} not run yet.")
    return "".join(lines) + "\n"


def _faults(heading: str, faults: Sequence[Fault]) -> list[str]:
    if not faults:
        return []
    rows = [[fault.what, fault.why] for fault in faults]
    return [f"## {heading}\n", table(["trial", "why"], rows, texts=2)]


def _section(
    contents: SectionContents, figures: Sequence[str], tolerance: float
) -> Iterator[str]:
    at = contents.conditions
    workers = plural(at.workers, "worker", "workers")
    robust = ", robust" if at.robust else ""
    yield (
        f"## {at.cost_model.capitalize()}, {at.time_limit_s:g} s{robust}\n\n"
        f"Times are simulated: {at.cost_model}, {at.target}, "
        f"{size_text(at.capacity_bytes)} of fast memory. "
        f"{plural(len(contents.section.programs), 'program', 'programs')}, "
        f"{at.time_limit_s:g} s each, {workers}. Wins, ties and losses are against "
        f"XLA's own answer; less than {100 * tolerance:g} % apart is a tie.\n"
    )
    expected = max(summary.runs for summary in contents.summaries)
    rows = [_against(summary, expected) for summary in contents.summaries]
    yield table(AGAINST_HEADS, rows)
    yield table(EFFORT_HEADS, map(_effort, contents.summaries))
    if at.robust:
        yield ROBUST
        yield table(START_HEADS, _against_start(contents.summaries), texts=2)
    for path in figures:
        yield f"![{_caption(path)}]({path})\n"
    if contents.pairs:
        yield from _pairs(contents)
    yield from _quality(contents)
    yield from _groups("By size", "instructions", contents, contents.sizes)
    yield from _groups("By family", "family", contents, contents.families)
    yield from _programs(contents)


def _caption(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".svg").replace("-", " ")


def _against_start(summaries: Iterable[Summary]) -> Iterator[list[str]]:
    for summary in summaries:
        for against in summary.vs_start:
            yield [
                _name(summary.strategy),
                against.cost_model,
                _figure(against.mean),
                str(against.worse),
                f"{against.worst:.4f} ({against.worst_program})",
            ]


def _against(summary: Summary, expected: int) -> list[str]:
    """How a strategy compares, and whether it ran as often as others."""
    runs = str(summary.runs)
    if summary.runs < expected and summary.strategy not in (BEST, XLA):
        runs += f" of {expected}"
    if summary.unanswered:
        runs += f" ({summary.unanswered} without a map)"
    against = f"{summary.wins} / {summary.ties} / {summary.losses}"
    worst = MISSING
    if summary.worst_vs_xla is not None:
        worst = f"{summary.worst_vs_xla:.4f} ({summary.worst_program})"
    return [
        _name(summary.strategy),
        runs,
        _figure(summary.vs_xla),
        _figure(summary.vs_slow),
        against if summary.vs_xla is not None else MISSING,
        worst,
    ]


def _effort(summary: Summary) -> list[str]:
    """How far a strategy is from the bounds, and what it takes."""
    return [
        _name(summary.strategy),
        *_gap(summary.gap, summary.runs),
        *_gap(summary.own_gap, summary.runs),
        _seconds(summary.mean_runtime_s),
        _seconds(summary.longest_runtime_s),
        size_text(summary.mean_peak_bytes),
        size_text(summary.mean_moved_bytes),
    ]


def _gap(gap: Gap | None, runs: int) -> list[str]:
    """Median and mean, and of how many if not of all."""
    if gap is None:
        return [MISSING, MISSING]
    of = "" if gap.count == runs else f" (of {gap.count})"
    return [gap_text(gap.median) + of, gap_text(gap.mean)]


def _pairs(contents: SectionContents) -> Iterator[str]:
    yield (
        "### Strategy against strategy\n\n"
        "The column's time over the row's, geometric mean (above 1: the row's strategy "
        "is faster); in parentheses the least ratio.\n"
    )
    columns = [*contents.section.strategies, BEST]
    ratios = {(x.first, x.second): x for x in contents.pairs}
    rows = []
    for first in contents.section.strategies:
        cells = [_name(first)]
        for second in columns:
            pair = ratios.get((first, second))
            cells.append(f"{pair.mean:.4f} ({pair.worst:.4f})" if pair else MISSING)
        rows.append(cells)
    yield table(["", *map(_name, columns)], rows)
    yield "Where each does worst, against the best of all:\n"
    yield table(
        ["strategy", "ratio", "program"],
        (
            [_name(pair.first), f"{pair.worst:.4f}", pair.worst_program]
            for pair in contents.pairs
            if pair.second == BEST
        ),
    )


def _quality(contents: SectionContents) -> Iterator[str]:
    moments = list(
        dict.fromkeys(s for curve in contents.curves for s, _ in curve.points)
    )
    if not moments:
        return
    yield (
        f"### Quality over time\n\nSpeed-up over {contents.section.reference} of the "
        f"best map so far, after so many seconds of search; all-slow before the first "
        f"map.\n"
    )
    rows = []
    for curve in contents.curves:
        means = dict(curve.points)
        rows.append([_name(curve.strategy), *(_figure(means.get(s)) for s in moments)])
    yield table(["strategy", *(f"{s:g} s" for s in moments)], rows)


def _groups(
    heading: str, label: str, contents: SectionContents, groups: Sequence[Group]
) -> Iterator[str]:
    reference = contents.section.reference
    yield f"### {heading}\n\nSpeed-up over {reference}, geometric means.\n"
    names = map(_name, contents.section.strategies)
    rows = [
        [group.label, str(group.programs), *map(_figure, group.speedups)]
        for group in groups
    ]
    yield table([label, "programs", *names], rows)


def _programs(contents: SectionContents) -> Iterator[str]:
    section = contents.section
    yield (
        f"### Every program\n\nSpeed-up over {section.reference} of each strategy; "
        f"gap: of the best of them.\n"
    )
    heads = ["program", "instructions", "all slow, ms", "XLA, ms", "gap"]
    heads += map(_name, section.strategies)
    yield table(heads, (_program_row(section, x) for x in section.programs))


def _program_row(section: Section, program: str) -> list[str]:
    measured = [x for x in section.measurements if x.program == program]
    first = measured[0]
    gaps = [x.gap for x in measured if x.gap is not None]
    cells = [
        program,
        f"{first.instructions:,}",
        _milliseconds(first.slow_s),
        _milliseconds(first.xla_s),
        gap_text(min(gaps)) if gaps else MISSING,
    ]
    for strategy in section.strategies:
        runs = (x for x in measured if x.strategy == strategy)
        cells.append(_figure(geometric_mean(known(map(section.speedup, runs)))))
    return cells


def _name(strategy: str) -> str:
    """A strategy's text as code; what stands for none in plain words."""
    return strategy if strategy in (BEST, XLA) else f"`{strategy}`"


def _seconds(seconds: float | None) -> str:
    return MISSING if seconds is None else f"{seconds:.1f}"


def _figure(value: float | None) -> str:
    return MISSING if value is None else f"{value:.4f}"


def _milliseconds(seconds: float | None) -> str:
    return MISSING if seconds is None else f"{seconds * 1e3:.3f}"
