"""``bound`` and ``verify``."""

from __future__ import annotations

import json
import math
from pathlib import Path

import bound_stand_ins
import pytest
from commands import Command
from named_problems import CHAIN, FASTER, FASTEST, INVALID, NAMED, SLOW

from hybridalloc import registry
from hybridalloc.io.json_format import read_map, write_map, write_problem
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.registry import Entry
from hybridalloc.solver import Outcome, Run, Status

BOUND_KEYS = [
    "input",
    "target",
    "cost_model",
    "capacity_bytes",
    "max_slices",
    "bound_s",
    "infeasible",
    "slow_s",
    "xla_s",
    "slow_gap",
    "xla_gap",
    "price_s_per_mib",
    "price_s_per_gbps",
    "runtime_s",
    "instructions",
]
VERIFY_KEYS = [
    "input",
    "map",
    "target",
    "cost_model",
    "capacity_bytes",
    "max_slices",
    "valid",
    "violations",
    "verdict",
    "sentence",
    "time_s",
    "bound_s",
    "gap",
    "better_time_s",
    "better_gap",
    "better_map",
    "unsliced_optimal",
    "runtime_s",
]
MODEL = "under the roofline model of small"


class Fastest:
    """Finds the best map of the chain, and proves it if no copy may be sliced."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        return Outcome(FASTEST, Status.OPTIMAL)


class Keeps:
    """Finds nothing better."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        return Outcome(run.warm_start or MemoryMap())


def search_by(monkeypatch: pytest.MonkeyPatch, solver: type) -> None:
    """Have this strategy look for better maps."""
    entry = Entry(f"{__name__}:{solver.__name__}", "for tests")
    entries = {**registry.STRATEGIES, "cpsat": entry, "annealing": entry}
    monkeypatch.setattr(registry, "STRATEGIES", entries)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> bound_stand_ins.Use:
    return bound_stand_ins.user(monkeypatch)


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """The chain of three instructions, and files of its maps beside it."""
    path = tmp_path / "chain.json"
    write_problem(CHAIN, path)
    maps = {"slow": SLOW, "faster": FASTER, "fastest": FASTEST, "invalid": INVALID}
    for name, memory_map in maps.items():
        write_map(memory_map, CHAIN, tmp_path / f"{name}.json")
    return path


def test_bound_as_json_has_the_figures_and_prices(
    command: Command, chain: Path, use: bound_stand_ins.Use
) -> None:
    """At 1e-12 s a byte in each of 3 instructions, a MiB is worth 3 * 2^20 * 1e-12."""
    made = use(20.0)
    ran = command("bound", chain, "--json", "--time-limit", "7", "--capacity", "64")
    values = json.loads(ran.out)
    assert (ran.code, ran.err, list(values)) == (0, "", BOUND_KEYS)
    assert (values["bound_s"], values["slow_s"]) == (20.0, 48.0)
    assert math.isclose(values["slow_gap"], 1.4)  # 48 / 20 - 1
    assert values["xla_s"] is values["xla_gap"] is None
    assert (values["capacity_bytes"], values["max_slices"]) == (64, 4)
    assert math.isclose(values["price_s_per_mib"], 3 * 2**20 * 1e-12)
    assert math.isclose(values["price_s_per_gbps"], 2e-6)  # 2e-15 * 1e9
    assert [x["name"] for x in values["instructions"]] == ["i0", "i1", "i2"]
    assert made.calls == [(7.0, 48.0)]


def test_bound_says_how_far_the_compilers_answer_is_from_it(
    command: Command, bundled: Path, use: bound_stand_ins.Use
) -> None:
    use(3e-3)
    ran = command("bound", bundled / "lstm_lm_b64_s128", "--limit", "2")
    lines = ran.out.splitlines()
    assert lines[0].endswith("times are simulated: roofline, tpu-v4i")
    assert "lower bound                3 ms" in lines
    assert any("XLA's own answer" in x and "15.8 % above the bound" in x for x in lines)
    assert "1 GB/s more for copies     would lower the bound by about 2.0" in ran.out
    assert lines[-1].endswith("more instructions (--limit 58 shows all)")


def test_all_slow_is_no_yardstick_where_a_buffer_is_pinned_to_fast_memory(
    command: Command, tmp_path: Path, use: bound_stand_ins.Use
) -> None:
    made = use(1e3)
    path = tmp_path / "pinned.json"
    write_problem(NAMED["pinned buffers"], path)
    values = json.loads(command("bound", path, "--json").out)
    assert values["slow_s"] < values["bound_s"]
    assert values["slow_gap"] is None
    assert made.calls == [(60.0, math.inf)]
    assert "above the bound" not in command("bound", path).out


def test_a_bound_without_prices_shows_none(
    command: Command, chain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound_stand_ins.without_prices(monkeypatch, 20.0)
    ran = command("bound", chain)
    assert (ran.code, ran.err) == (0, "")
    assert "1 MiB more of fast memory  -\n" in ran.out
    assert "1 GB/s more for copies     -\n" in ran.out
    values = json.loads(command("bound", chain, "--json").out)
    assert values["price_s_per_mib"] is values["price_s_per_gbps"] is None
    assert values["instructions"] == []


def test_a_program_without_a_valid_map_is_exit_code_one(
    command: Command, chain: Path, use: bound_stand_ins.Use
) -> None:
    use(math.inf)
    ran = command("bound", chain)
    assert ran.code == 1
    assert "No valid map exists (proven)" in ran.out
    values = json.loads(command("bound", chain, "--json").out)
    assert values["infeasible"] is True
    assert values["bound_s"] is values["price_s_per_mib"] is None


def test_ctrl_c_gives_the_bound_so_far(
    command: Command, chain: Path, use: bound_stand_ins.Use
) -> None:
    use(5.0, interrupted=True)
    ran = command("bound", chain, "--json")
    assert (ran.code, json.loads(ran.out)["bound_s"]) == (0, 5.0)


def test_max_slices_changes_the_target(
    command: Command, chain: Path, use: bound_stand_ins.Use
) -> None:
    use(24.0)
    path = chain.parent / "fastest.json"
    for arguments in (("bound", chain), ("verify", chain, path)):
        ran = command(*arguments, "--max-slices", "2", "--json")
        assert json.loads(ran.out)["max_slices"] == 2
    assert command("solve", chain, "--max-slices", "0").code == 2
    assert command("solve", chain, "--max-slices", "1").code == 0
    assert command("compare", chain, "--max-slices", "1").code == 0


def test_verify_names_the_violations_of_an_invalid_map(
    command: Command, chain: Path, use: bound_stand_ins.Use
) -> None:
    use(20.0)
    path = chain.parent / "invalid.json"
    ran = command("verify", chain, path)
    lines = ran.out.splitlines()
    assert (ran.code, ran.err) == (1, "")
    assert lines[0].startswith("stale_read: ")
    assert lines[-1] == f"This map is not valid: {len(lines) - 1} violation."
    values = json.loads(command("verify", chain, path, "--json").out)
    assert list(values) == VERIFY_KEYS
    assert (values["valid"], values["verdict"]) == (False, "invalid")
    assert values["violations"][0]["rule"] == "stale_read"


def test_verify_says_that_a_map_is_optimal(
    command: Command, chain: Path, use: bound_stand_ins.Use
) -> None:
    use(24.0)
    ran = command("verify", chain, chain.parent / "fastest.json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[-1] == (
        f"This map is optimal {MODEL}: no valid map is faster (proven)."
    )


def test_verify_says_how_far_a_map_may_be_from_optimal(
    command: Command,
    chain: Path,
    use: bound_stand_ins.Use,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(20.0)
    search_by(monkeypatch, Keeps)
    ran = command("verify", chain, chain.parent / "fastest.json", "--json")
    values = json.loads(ran.out)
    assert (values["valid"], values["verdict"]) == (True, "within")
    assert values["sentence"] == (
        f"This map is valid and at most 20.0 % slower than the best possible {MODEL}; "
        f"no better one was found in {values['runtime_s']:.1f} s."
    )
    assert (values["time_s"], values["bound_s"]) == (24.0, 20.0)
    assert values["better_time_s"] is values["better_map"] is None


def test_verify_has_no_line_of_a_better_map_where_there_is_none(
    command: Command,
    chain: Path,
    use: bound_stand_ins.Use,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(20.0)
    search_by(monkeypatch, Keeps)
    out = command("verify", chain, chain.parent / "fastest.json").out
    assert not {"better map", "found in"} & {x[:10].strip() for x in out.splitlines()}
    assert any(x.startswith("took ") for x in out.splitlines())


def test_verify_says_where_only_slices_could_help(
    command: Command,
    chain: Path,
    use: bound_stand_ins.Use,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(20.0)
    search_by(monkeypatch, Fastest)
    given = ("verify", chain, chain.parent / "fastest.json")
    note = "Only a map with sliced prefetches could be faster (proven)."
    assert command(*given).out.splitlines()[-1].endswith(note)
    ran = command(*given, "--max-slices", "1")
    assert ran.out.splitlines()[-1].endswith("no valid map is faster (proven).")


def test_verify_writes_a_faster_map(
    command: Command,
    chain: Path,
    use: bound_stand_ins.Use,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(20.0)
    search_by(monkeypatch, Fastest)
    out = chain.parent / "better.json"
    given = ("verify", chain, chain.parent / "faster.json", "--out", out)
    ran = command(*given, "--max-slices", "1")
    assert ran.code == 0
    assert ran.out.splitlines()[-3:] == [
        f"A map that is 50.0 % faster exists: 24 s instead of 36 s {MODEL}. No valid "
        f"map is faster than that (proven).",
        "",
        f"map written to {out}",
    ]
    assert read_map(out, CHAIN) == FASTEST
    values = json.loads(command(*given, "--json").out)
    assert (values["verdict"], values["better_map"]) == ("improved", str(out))
    assert (values["better_time_s"], values["unsliced_optimal"]) == (24.0, True)


def test_verify_without_a_bound_says_so(
    command: Command,
    chain: Path,
    use: bound_stand_ins.Use,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(0.0)
    search_by(monkeypatch, Keeps)
    ran = command("verify", chain, chain.parent / "slow.json")
    assert "how far it is from the best possible" in ran.out
    assert "lower bound  -\n" in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bound", "--time-limit", "nan"), "'--time-limit'"),
        (("verify", "fastest.json", "--time-limit", "inf"), "expected a finite number"),
        (("verify", "missing.json"), "missing.json"),
        (("verify", "input"), "the compiler's own answer"),
        (
            ("solve", "--bound-time", "inf"),
            "--bound-time inf: expected a finite number",
        ),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(
    command: Command,
    chain: Path,
    use: bound_stand_ins.Use,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    use(20.0)
    name, *rest = arguments
    given = [chain.parent / x if x.endswith(".json") else x for x in rest]
    ran = command(name, chain, *given)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err
