from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from commands import Command

from hybridalloc.io.minimalloc import read_buffers

SENSOR = """id,lower,upper,size
samples,0,4,6
window,0,2,2
spectrum,2,7,4
filtered,4,7,6
classes,7,9,8
"""


@pytest.fixture
def sensor(tmp_path: Path) -> Path:
    path = tmp_path / "sensor.10.csv"
    path.write_text(SENSOR)
    return path


def test_solve_takes_the_capacity_from_the_name(command: Command, sensor: Path) -> None:
    ran = command("solve", sensor, "--json")
    found = json.loads(ran.out)
    assert ran.code == 0
    assert (found["status"], found["capacity_bytes"]) == ("optimal", 10)
    assert (found["peak_bytes"], found["load_bytes"]) == (10, 10)
    assert found["load_buffers"] == ["samples", "spectrum"]


def test_solve_says_why_there_is_no_answer(command: Command, sensor: Path) -> None:
    ran = command("solve", sensor, "--capacity", "9", "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["status"], found["valid"]) == (1, "infeasible", None)
    assert found["infeasibility"]["instruction"] == 2
    assert found["infeasibility"]["excess_bytes"] == 1
    assert found["infeasibility"]["culprits"] == ["samples", "spectrum"]
    assert "1 B too much" in command("solve", sensor, "--capacity", "9").out


def test_a_time_out_has_an_exit_code_of_its_own(command: Command, sensor: Path) -> None:
    ran = command("solve", sensor, "--time-limit", "0", "--json")
    assert ran.code == 3
    assert json.loads(ran.out)["status"] == "unknown"


def test_the_least_capacity_is_looked_for(command: Command, sensor: Path) -> None:
    ran = command(
        "solve", sensor, "--capacity", "1MiB", "--minimize-capacity", "--json"
    )
    found = json.loads(ran.out)
    assert (found["status"], found["peak_bytes"]) == ("optimal", 10)


def test_what_is_reserved_stays_free(command: Command, sensor: Path) -> None:
    options = ["--capacity", "99", "--minimize-capacity", "--reserve", "0:4"]
    found = json.loads(command("solve", sensor, *options, "--json").out)
    assert found["peak_bytes"] == 14
    out = sensor.parent / "offsets.csv"
    command("solve", sensor, *options, "--out", out)
    given = ["check", sensor, out, "--capacity", "99"]
    assert command(*given, "--reserve", "0:4").code == 0
    assert (
        "takes bytes of the reserved [4, 5)" in command(*given, "--reserve", "4:5").out
    )


def test_offsets_are_written_in_three_formats(
    command: Command, sensor: Path, tmp_path: Path
) -> None:
    for name in ("out.csv", "out.h", "out.json"):
        assert command("solve", sensor, "--out", tmp_path / name).code == 0
    offsets = json.loads((tmp_path / "out.json").read_text())["offsets"]
    written = read_buffers(tmp_path / "out.csv").buffers
    assert {x.name: x.offset for x in written} == offsets
    header = (tmp_path / "out.h").read_text()
    assert "#define OUT_ARENA_SIZE 10\n" in header
    assert f"#define OUT_OFFSET_CLASSES {offsets['classes']}\n" in header
    assert command("solve", tmp_path / "out.csv", "--capacity", "10").code == 0


def test_check_names_the_rules_that_offsets_break(
    command: Command, sensor: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    command("solve", sensor, "--out", out)
    ran = command("check", sensor, out, "--json")
    assert (ran.code, json.loads(ran.out)["valid"]) == (0, True)
    text = out.read_text().splitlines()
    out.write_text("\n".join([text[0], *(line[:-1] + "1" for line in text[1:])]))
    ran = command("check", sensor, out)
    assert ran.code == 1
    assert "overlap: window takes bytes [1, 3) and samples takes [1, 7)" in ran.out
    out.write_text("id,lower,upper,size\nsamples,0,3,4\n")
    assert "expected an offset of samples" in command("check", sensor, out).err


def test_a_strategy_lists_its_options(command: Command) -> None:
    options = json.loads(command("strategies", "fits", "--json").out)
    assert options["fit"]["value"] == "best or first or none"


def test_a_strategy_may_have_options(command: Command, sensor: Path) -> None:
    strategy = "fits(order=size, fit=first)"
    found = json.loads(command("solve", sensor, "--strategy", strategy, "--json").out)
    assert (found["strategy"], found["status"]) == (strategy, "optimal")
    assert found["found_by"] == "first-fit by size"


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        ("greedy", "strategy 'greedy' is for programs; expected one for static alloc"),
        ("best(fits,packing)", "strategy 'best' is for programs"),
        ("race>fits", "'race>fits' is not the name of one strategy; expected one"),
        ("fits@3s", "'fits@3s' is not the name of one strategy; expected one"),
        ("packin", "unknown strategy 'packin' for static allocation; did you mean"),
        ("fits(size=3)", "strategy 'fits' has no option 'size'; known: order, fit"),
    ],
)
def test_what_is_no_strategy_for_csv_files_is_refused(
    command: Command, sensor: Path, strategy: str, words: str
) -> None:
    ran = command("solve", sensor, "--strategy", strategy)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_a_strategy_for_csv_files_solves_no_program(
    command: Command, bundled: Path
) -> None:
    ran = command("solve", bundled / "gcn3_train_n4096", "--strategy", "packing")
    assert ran.code == 2
    assert "'packing' is for static allocation (a CSV file of buffers)" in ran.err


def test_files_are_compared_by_strategy_and_capacity(
    command: Command, sensor: Path
) -> None:
    options = ["--strategies", "fits,packing(most_buffers=9)", "--capacity", "9,12"]
    rows = json.loads(command("compare", sensor, *options, "--json").out)
    assert [(x["strategy"], x["capacity_bytes"], x["peak_bytes"]) for x in rows] == [
        ("fits", 9, None),
        ("packing(most_buffers=9)", 9, None),
        ("fits", 12, 10),
        ("packing(most_buffers=9)", 12, 10),
    ]
    lines = command("compare", sensor, *options).out.splitlines()
    assert lines[4].split()[:5] == ["sensor.10", "fits", "infeasible", "9", "-"]
    assert lines[6].split()[-5:] == ["10", "1.000x", "10", "0.0", "s"]


def test_programs_are_not_compared_with_csv_files(
    command: Command, sensor: Path, bundled: Path
) -> None:
    ran = command("compare", sensor, bundled / "gcn3_train_n4096")
    assert (ran.code, "programs or CSV files of buffers" in ran.err) == (2, True)


def test_info_describes_the_buffers(command: Command, sensor: Path) -> None:
    found = json.loads(command("info", sensor, "--json").out)
    assert (found["buffers"], found["parts"], found["total_bytes"]) == (5, 2, 26)
    assert (found["load_bytes"], found["load_instant"]) == (10, 2)
    assert "10 B at 2" in command("info", sensor).out


@pytest.mark.parametrize("text", [SENSOR, "id,lower,upper,size\n"])
def test_show_draws_offsets_over_time(
    command: Command, tmp_path: Path, text: str
) -> None:
    path, offsets = tmp_path / "buffers.csv", tmp_path / "offsets.csv"
    path.write_text(text)
    command("solve", path, "--out", offsets)
    for name in ("arena.png", "arena.svg"):
        ran = command("show", path, offsets, "--out", tmp_path / name)
        assert (ran.code, ran.err) == (0, "")
    assert (tmp_path / "arena.png").read_bytes().startswith(b"\x89PNG")
    ran = command("show", path, offsets, "--out", tmp_path / "x.png", "--x", "time")
    assert (ran.code, "--x: expected a program" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a.csv", "--out", "a.html"), "expected a name that ends in .png, .svg or .p"),
        (("a.csv",), "expected one file of offsets, and --out FILE.png|svg|pdf"),
        (("--out", "a.png"), "expected one file of offsets"),
        (("a.csv", "b.csv", "--out", "a.png"), "expected one file of offsets"),
        (("a.csv", "--trace", "a.json"), "--trace: expected a program"),
    ],
)
def test_show_says_what_it_needs_to_draw_offsets(
    command: Command, sensor: Path, arguments: tuple[str, ...], words: str
) -> None:
    ran = command("show", sensor, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert ran.err.count("\n") == 1


def test_the_compiler_s_table_of_buffers_is_still_a_program(
    command: Command, bundled: Path, tmp_path: Path
) -> None:
    for table in ("bufferinfo", "scheduleinfo"):
        (source,) = (bundled / "gcn3_train_n4096").glob(f"{table}.csv*")
        (tmp_path / source.name).write_bytes(source.read_bytes())
        if table == "bufferinfo":
            path = tmp_path / source.name
    ran = command("solve", path, "--strategy", "slow", "--bound-time", "0", "--json")
    assert json.loads(ran.out)["strategy"] == "slow"


def test_other_commands_say_that_they_take_programs(
    command: Command, sensor: Path
) -> None:
    ran = command("bound", sensor)
    assert (ran.code, "expected a program" in ran.err) == (2, True)


def test_options_that_do_not_apply_are_refused(command: Command, sensor: Path) -> None:
    ran = command("solve", sensor, "--target", "tpu-v4i")
    assert ran.code == 2
    assert "--target: expected a program" in ran.err
    ran = command("solve", sensor, "--out", "offsets.txt")
    assert (ran.code, ".csv, .h, .json" in ran.err) == (2, True)
    ran = command("solve", sensor, "--plot", "arena.png")
    assert (ran.code, "--plot: expected a program" in ran.err) == (2, True)
    ran = command("bench", sensor, "--maps")
    assert (ran.code, "--maps: expected a program" in ran.err) == (2, True)


def test_a_program_has_no_least_capacity(command: Command, bundled: Path) -> None:
    ran = command("solve", bundled / "gcn3_train_n4096", "--minimize-capacity")
    assert ran.code == 2
    assert "expected a CSV file of buffers" in ran.err


def test_the_temporaries_of_a_program_become_a_csv_file(
    command: Command, bundled: Path, tmp_path: Path
) -> None:
    out = tmp_path / "temporaries.csv"
    assert command("convert", bundled / "gcn3_train_n4096", "--out", out).code == 0
    ran = command("solve", out, "--json")
    assert json.loads(ran.out)["status"] == "optimal"


def test_a_benchmark_of_csv_files_says_what_is_reached(
    command: Command, sensor: Path, tmp_path: Path
) -> None:
    out = tmp_path / "bench"
    given = ["bench", sensor.parent, "--strategies", "race,fits", "--time-limits", "5"]
    ran = command(*given, "--out", out)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "1 file of buffers, 5 s each, 1 worker"
    assert lines[3].split()[:6] == ["fits", "1", "1", "1", "1.000x", "1.000x"]
    page = (out / "report.md").read_text()
    assert "| sensor.10 | `race` | optimal | 5 | 10 | 10 | 10 | 1.0000 |" in page
    assert command(*given, "--out", out).out == ran.out  # nothing is done twice
    report = json.loads(command("bench", "--out", out, "--json").out)
    (section,) = report["placements"]
    assert [x["fitting"] for x in section["summaries"]] == [1, 1]
    assert section["runs"][0]["record"]["peak_bytes"] == 10


def test_a_benchmark_of_csv_files_refuses_what_is_of_programs(
    command: Command, sensor: Path, bundled: Path, tmp_path: Path
) -> None:
    out = ["--out", tmp_path / "bench"]
    for given, words in (
        ([sensor, "--strategies", "greedy"], "strategy 'greedy' is for programs"),
        ([sensor, "--strategies", "best(msa,greedy)"], "'best' composes strategies"),
        ([sensor, "--cost-models", "cycles"], "--cost-models: expected a program"),
        ([sensor, "--robust"], "--robust: expected a program"),
        ([sensor, bundled / "gcn3_train_n4096"], "not both"),
    ):
        ran = command("bench", *given, *out)
        assert (ran.code, words in ran.err) == (2, True)


def test_random_buffers_are_written_for_a_benchmark(root: Path, tmp_path: Path) -> None:
    script = runpy.run_path(str(root / "scripts" / "random_buffers.py"))
    script["main"](["20", "--out", str(tmp_path)])
    for name in ("short_20.csv", "heavy_20.csv"):
        assert len(read_buffers(tmp_path / name)) == 20
