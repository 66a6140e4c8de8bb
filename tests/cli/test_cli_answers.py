"""``solve`` and ``compare``."""

from __future__ import annotations

import json
import math
import shutil
import signal
from pathlib import Path

import bound_stand_ins
import pytest
from commands import Command
from named_problems import CHAIN, FASTEST

from hybridalloc import registry
from hybridalloc.checker import check
from hybridalloc.io.json_format import read_map, write_problem
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.registry import Entry
from hybridalloc.solver import (
    UNANSWERED,
    Infeasibility,
    Outcome,
    Run,
    Status,
)
from hybridalloc.solving import cutoff

GREEDY = ("--strategy", "greedy")
"""A strategy that is soon done."""
SOLVE_KEYS = [
    "input",
    "strategy",
    "target",
    "cost_model",
    "capacity_bytes",
    "status",
    "valid",
    "time_s",
    "bound_s",
    "gap",
    "slow_s",
    "xla_s",
    "speedup_vs_slow",
    "speedup_vs_xla",
    "peak_bytes",
    "fragmentation",
    "moved_bytes",
    "stall_s",
    "runtime_s",
    "seed",
    "times_s",
    "speedups_vs_start",
]


class Interrupted:
    """Reports the empty map; then the user presses Ctrl-C."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        run.report(MemoryMap())
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("Ctrl-C had no effect")


class InterruptedAtOnce:
    """Has nothing yet when the user presses Ctrl-C."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("Ctrl-C had no effect")


class Fastest:
    """Finds the best map of the chain, and proves nothing."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        return Outcome(FASTEST)


class Proves:
    """Finds it, and proves that it is the best."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        return Outcome(FASTEST, Status.OPTIMAL)


class Unanswered:
    """Finds nothing."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        return UNANSWERED


class Infeasible:
    """Proves that there is no map."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        why = Infeasibility(3, 4096, ("weights",))
        return Outcome(None, Status.INFEASIBLE, infeasibility=why)


class Vandal:
    """Answers, and removes the folder that the answer was to be written to."""

    folder = Path()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        self.folder.rmdir()
        return Outcome(MemoryMap())


class Broken:
    """Fails in a way that nobody foresaw."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        raise IndexError("list index\nout of range")


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> bound_stand_ins.Use:
    return bound_stand_ins.user(monkeypatch)


@pytest.fixture(autouse=True)
def bound(use: bound_stand_ins.Use) -> bound_stand_ins.StandIn:
    """A bound that takes no time: 1 ms, which no map of these tests meets."""
    return use(1e-3)


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """The chain of three instructions as a file: 48 s, 24 s with x and y fast."""
    path = tmp_path / "chain.json"
    write_problem(CHAIN, path)
    return path


@pytest.fixture
def strategy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers the strategies of this module by their lower-case names."""
    for solver in (
        *(Interrupted, InterruptedAtOnce, Unanswered, Infeasible),
        *(Vandal, Broken, Fastest, Proves),
    ):
        entry = Entry(f"{__name__}:{solver.__name__}", "for tests")
        entries = {**registry.STRATEGIES, solver.__name__.lower(): entry}
        monkeypatch.setattr(registry, "STRATEGIES", entries)


@pytest.fixture
def workload(bundled: Path) -> Path:
    return bundled / "lstm_lm_b64_s128"


@pytest.fixture
def stripped(workload: Path, tmp_path: Path) -> Path:
    """The workload without the compiler's answer."""
    folder = tmp_path / workload.name
    folder.mkdir()
    for name in ("before_msa.hlo.gz", "cycles.csv.gz"):
        shutil.copy(workload / name, folder)
    return folder


def test_solve_as_json_prints_exactly_the_keys_of_the_contract(
    command: Command, workload: Path
) -> None:
    ran = command("solve", workload, "--json", "--strategy", "greedy", "--seed", "7")
    answer = json.loads(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert list(answer) == SOLVE_KEYS
    assert answer["input"] == str(workload)
    assert (answer["strategy"], answer["seed"]) == ("greedy", 7)
    assert (answer["target"], answer["cost_model"]) == ("tpu-v4i", "roofline")
    assert answer["capacity_bytes"] == 128 * 2**20
    assert (answer["status"], answer["valid"]) == ("feasible", True)
    assert answer["bound_s"] == 1e-3
    assert math.isclose(answer["gap"], answer["time_s"] / 1e-3 - 1)


def test_speed_ups_are_the_times_of_the_references_over_the_maps_own(
    command: Command, workload: Path
) -> None:
    answer = json.loads(command("solve", workload, *GREEDY, "--json").out)
    vs_slow = answer["slow_s"] / answer["time_s"]
    vs_xla = answer["xla_s"] / answer["time_s"]
    assert math.isclose(answer["speedup_vs_slow"], vs_slow)
    assert math.isclose(answer["speedup_vs_xla"], vs_xla)


def test_the_compilers_own_answer_has_a_speed_up_of_one_against_itself(
    command: Command, workload: Path
) -> None:
    ran = command("solve", workload, "--strategy", "replay", "--json")
    assert json.loads(ran.out)["speedup_vs_xla"] == 1


def test_the_compilers_answer_is_no_reference_where_it_does_not_fit(
    command: Command, workload: Path
) -> None:
    ran = command("solve", workload, *GREEDY, "--capacity", "16MiB", "--json")
    answer = json.loads(ran.out)
    assert answer["capacity_bytes"] == 16 * 2**20
    assert answer["xla_s"] is answer["speedup_vs_xla"] is None


def test_without_the_compilers_answer_the_reference_is_unknown(
    command: Command, stripped: Path
) -> None:
    answer = json.loads(command("solve", stripped, *GREEDY, "--json").out)
    assert answer["xla_s"] is None
    assert answer["speedup_vs_slow"] >= 1


def test_the_table_names_the_cost_model_and_the_target(
    command: Command, workload: Path
) -> None:
    ran = command(
        "solve", workload, *GREEDY, "--cost-model", "cycles", "--target", "tpu-v4"
    )
    assert ran.code == 0
    assert "times are simulated: cycles, tpu-v4\n" in ran.out
    assert "64 MiB of fast memory" in ran.out


def test_out_writes_a_map_that_the_checker_accepts(
    command: Command, workload: Path, tmp_path: Path
) -> None:
    out = tmp_path / "map.json.gz"
    assert command("solve", workload, *GREEDY, "--out", out).code == 0
    problem = read_problem(workload)
    assert check(problem, read_map(out, problem)) == ()
    assert [path.name for path in tmp_path.iterdir()] == ["map.json.gz"]


def test_a_warm_start_is_never_made_worse(
    command: Command, workload: Path, tmp_path: Path
) -> None:
    solved = command("solve", workload, "--json", "--strategy", "slow")
    slow_s = json.loads(solved.out)["time_s"]
    started = ("solve", workload, "--strategy", "slow", "--json", "--warm-start")
    first = command(*started, "input", "--out", tmp_path / "map.json")
    second = command(*started, tmp_path / "map.json")
    assert json.loads(first.out)["speedup_vs_xla"] == 1
    assert json.loads(second.out)["time_s"] == json.loads(first.out)["time_s"] < slow_s


@pytest.mark.usefixtures("strategy")
def test_ctrl_c_keeps_the_best_map_and_prints_it(
    command: Command, workload: Path, tmp_path: Path
) -> None:
    out = tmp_path / "map.json"
    ran = command(
        "solve", workload, "--strategy", "interrupted", "--json", "--out", out
    )
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["speedup_vs_slow"] == 1
    assert out.is_file()


@pytest.mark.usefixtures("strategy")
def test_no_answer_within_the_limit_is_exit_code_three_and_writes_no_map(
    command: Command, workload: Path, tmp_path: Path
) -> None:
    out = tmp_path / "map.json"
    for name in ("unanswered", "interruptedatonce"):
        ran = command("solve", workload, "--strategy", name, "--json", "--out", out)
        assert ran.code == 3
        assert json.loads(ran.out)["status"] == "unknown"
        assert json.loads(ran.out)["valid"] is None
    assert not out.exists()


@pytest.mark.usefixtures("strategy")
def test_proven_infeasible_is_exit_code_one_and_says_why(
    command: Command, workload: Path
) -> None:
    ran = command("solve", workload, "--strategy", "infeasible", "--json")
    answer = json.loads(ran.out)
    assert ran.code == 1
    assert list(answer) == [*SOLVE_KEYS, "infeasibility"]
    why = {"instruction": 3, "excess_bytes": 4096, "culprits": ["weights"]}
    assert answer["infeasibility"] == why
    table = command("solve", workload, "--strategy", "infeasible").out
    assert "instruction 3 needs 4 KiB too much: weights" in table


@pytest.mark.usefixtures("strategy")
def test_a_map_that_cannot_be_written_does_not_cost_the_answer(
    command: Command,
    workload: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "gone" / "map.json"
    out.parent.mkdir()
    monkeypatch.setattr(Vandal, "folder", out.parent)
    ran = command("solve", workload, "--strategy", "vandal", "--json", "--out", out)
    assert ran.code == 2
    assert json.loads(ran.out)["speedup_vs_slow"] == 1
    assert ran.err.startswith(f"error: {out}: cannot write this file")
    assert ran.err.count("\n") == 1


@pytest.mark.usefixtures("strategy")
def test_a_defect_is_one_line_unless_debugging(
    command: Command, workload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HYBRIDALLOC_DEBUG", raising=False)
    ran = command("solve", workload, "--strategy", "broken")
    assert (ran.code, ran.out) == (70, "")
    assert ran.err.startswith("error: a defect in hybridalloc: IndexError: list index ")
    assert ran.err.count("\n") == 1
    monkeypatch.setenv("HYBRIDALLOC_DEBUG", "1")
    assert "Traceback" in command("solve", workload, "--strategy", "broken").err


def test_compare_as_json_is_a_list_of_solve_objects_in_the_order_asked_for(
    command: Command, workload: Path, bundled: Path
) -> None:
    ran = command(
        *("compare", workload, bundled / "mixer_block_b128", "--json"),
        *("--strategies", "slow,greedy", "--capacity", "64MiB,134217728"),
    )
    rows = json.loads(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert all(list(row) == SOLVE_KEYS for row in rows)
    assert [(Path(r["input"]).name[:4], r["capacity_bytes"]) for r in rows] == [
        (name, mib * 2**20) for name in ("lstm", "mixe") for mib in (64, 64, 128, 128)
    ]
    assert [row["strategy"] for row in rows] == ["slow", "greedy"] * 4


def test_compare_shows_a_row_for_each_answer_and_geometric_means(
    command: Command, workload: Path
) -> None:
    ran = command("compare", workload, "--strategies", "slow,replay")
    lines = ran.out.splitlines()
    assert ran.code == 0
    assert lines[0] == "128 MiB of fast memory; times are simulated: roofline, tpu-v4i"
    slow, replay, slow_mean, replay_mean = (
        line for line in lines if " slow " in line[:40] or " replay " in line[:40]
    )
    assert "lstm_lm_b64_s128" in slow
    assert "1.000x" in replay
    assert slow_mean.startswith("geometric mean  ")
    vs_slow = replay.split()[3]  # after strategy, time and unit
    assert vs_slow == replay_mean.split()[3]  # the mean of one
    assert "1 ms" in replay.split("x  ")[-1]


def test_compare_leaves_out_what_does_not_apply_with_one_warning_line(
    command: Command, stripped: Path
) -> None:
    ran = command("compare", stripped, "--strategies", "replay,slow", "--json")
    assert ran.code == 0
    assert [row["strategy"] for row in json.loads(ran.out)] == ["slow"]
    assert ran.err.startswith(f"warning: {stripped}: strategy replay")
    assert ran.err.count("\n") == 1


def test_a_composition_is_solved_under_its_text(
    command: Command, workload: Path
) -> None:
    text = "best(slow,greedy(displacements=0)@10s)>random"
    ran = command("solve", workload, "--strategy", text, "--json")
    answer = json.loads(ran.out)
    assert (ran.code, ran.err, answer["strategy"]) == (0, "", text)
    assert answer["speedup_vs_slow"] > 1


@pytest.mark.usefixtures("strategy")
def test_the_table_says_which_member_of_a_composition_found_the_map(
    command: Command, chain: Path
) -> None:
    """From 48 s to 24 s; ``slow`` finds what takes no less than all in slow memory."""
    lines = command("solve", chain, "--strategy", "slow>fastest").out.splitlines()
    assert "who found it, 24 s less than all in slow memory" in lines
    assert lines[-2].split()[:5] == ["slow", "1", "0", "s", "0"]
    assert lines[-1].split()[:6] == ["fastest", "1", "24", "s", "100", "%"]
    for whole in ("fastest", "greedy", "greedy( displacements = 0 )"):
        alone = command("solve", chain, "--strategy", whole).out
        assert "who found it" not in alone


def test_compare_splits_the_strategies_outside_parentheses(
    command: Command, workload: Path
) -> None:
    names = "slow>random, best(slow,random)"
    ran = command("compare", workload, "--strategies", names, "--json")
    rows = json.loads(ran.out)
    assert [row["strategy"] for row in rows] == ["slow>random", "best(slow,random)"]
    assert rows[0]["time_s"] == rows[1]["time_s"]


@pytest.mark.usefixtures("strategy")
def test_ctrl_c_ends_a_comparison_after_the_row_it_met(
    command: Command, workload: Path
) -> None:
    names = "slow,interrupted,greedy"
    ran = command("compare", workload, "--strategies", names, "--json")
    assert ran.code == 0
    rows = json.loads(ran.out)
    assert [row["strategy"] for row in rows] == ["slow", "interrupted"]


@pytest.mark.usefixtures("strategy")
def test_solve_reserves_the_end_of_its_time_for_a_bound(
    command: Command, chain: Path, use: bound_stand_ins.Use
) -> None:
    made = use(20.0)
    ran = command("solve", chain, "--strategy", "fastest", "--json")
    answer = json.loads(ran.out)
    assert (answer["status"], answer["bound_s"]) == ("feasible", 20.0)
    assert math.isclose(answer["gap"], 0.2)  # 24 / 20 - 1
    assert made.calls == [(12.0, cutoff(24.0))]  # a fifth of 60 s
    arguments = ("--strategy", "fastest", "--time-limit", "1000")
    command("solve", chain, *arguments)
    command("solve", chain, *arguments, "--bound-time", "500")
    command("solve", chain, "--strategy", "fastest", "--iterations", "5")
    assert [seconds for seconds, _ in made.calls[1:]] == [30.0, 500.0, 10.0]


@pytest.mark.usefixtures("strategy")
def test_a_time_that_meets_the_bound_is_optimal(
    command: Command, chain: Path, use: bound_stand_ins.Use
) -> None:
    use(24.0)
    ran = command("solve", chain, "--strategy", "fastest")
    assert "status               optimal\n" in ran.out
    assert "lower bound          24 s, gap 0 %\n" in ran.out
    ran = command("compare", chain, "--strategies", "fastest,slow", "--json")
    assert [row["status"] for row in json.loads(ran.out)] == ["optimal", "feasible"]
    assert "optimal" in command("compare", chain, "--strategies", "fastest").out


@pytest.mark.usefixtures("strategy")
def test_no_bound_is_sought_without_time_for_it_or_after_a_proof(
    command: Command, chain: Path, bound: bound_stand_ins.StandIn
) -> None:
    ran = command("solve", chain, "--strategy", "fastest", "--bound-time", "0")
    assert "lower bound          -\n" in ran.out
    proven = json.loads(command("solve", chain, "--strategy", "proves", "--json").out)
    assert (proven["status"], proven["bound_s"]) == ("optimal", 24.0)
    command("solve", chain, "--strategy", "infeasible")
    command("solve", chain, "--strategy", "interrupted")
    assert bound.calls == []


def test_a_bound_cannot_take_more_time_than_there_is(
    command: Command, chain: Path
) -> None:
    ran = command("solve", chain, "--bound-time", "5", "--time-limit", "4")
    assert (ran.code, ran.out) == (2, "")
    assert "--bound-time 5: expected at most the time limit, 4 s" in ran.err


@pytest.mark.usefixtures("strategy")
def test_ctrl_c_during_the_bound_keeps_the_answer(
    command: Command, chain: Path, use: bound_stand_ins.Use
) -> None:
    use(20.0, interrupted=True)
    ran = command("solve", chain, "--strategy", "fastest", "--json")
    answer = json.loads(ran.out)
    assert (ran.code, answer["time_s"], answer["bound_s"]) == (0, 24.0, 20.0)


@pytest.mark.usefixtures("strategy")
def test_an_infinite_bound_proves_that_there_is_no_map(
    command: Command, chain: Path, use: bound_stand_ins.Use
) -> None:
    use(math.inf)
    ran = command("solve", chain, "--strategy", "unanswered", "--json")
    answer = json.loads(ran.out)
    assert (ran.code, answer["status"], answer["bound_s"]) == (1, "infeasible", None)


@pytest.mark.usefixtures("strategy")
def test_compare_bounds_each_problem_once_for_all_strategies(
    command: Command, chain: Path, use: bound_stand_ins.Use
) -> None:
    """Of 48 s, 24 s and 24 s the least is the cutoff; 64 bytes are another problem."""
    made = use(20.0)
    ran = command(
        *("compare", chain, "--strategies", "slow,fastest", "--json"),
        *("--capacity", "32,64"),
    )
    gaps = [round(row["gap"], 9) for row in json.loads(ran.out)]
    assert gaps == [1.4, 0.2] * 2  # 48 / 20 - 1 and 24 / 20 - 1
    assert made.calls == [(12.0, cutoff(24.0))] * 2


@pytest.mark.usefixtures("strategy")
def test_a_strategys_proof_bounds_the_others(
    command: Command, chain: Path, bound: bound_stand_ins.StandIn
) -> None:
    ran = command("compare", chain, "--strategies", "slow,proves", "--json")
    assert [row["gap"] for row in json.loads(ran.out)] == [1.0, 0.0]
    assert bound.calls == []


@pytest.mark.usefixtures("strategy")
def test_compare_shows_bound_and_gap_and_the_mean_gap(
    command: Command, chain: Path, use: bound_stand_ins.Use
) -> None:
    """The mean of one: 24 / 20 - 1."""
    use(20.0)
    lines = command("compare", chain, "--strategies", "fastest").out.splitlines()
    assert lines[2].split()[-4:] == ["bound", "gap", "search", "peak"]
    assert "20 s  20.0 %" in lines[4]
    assert lines[-1].endswith("20.0 %")


@pytest.mark.usefixtures("strategy")
def test_ctrl_c_during_a_bound_ends_a_comparison_with_it(
    command: Command, chain: Path, use: bound_stand_ins.Use
) -> None:
    use(20.0, interrupted=True)
    ran = command(
        *("compare", chain, "--strategies", "slow,fastest", "--json"),
        *("--capacity", "32,64"),
    )
    assert ran.code == 0
    assert [row["bound_s"] for row in json.loads(ran.out)] == [20.0, 20.0]
