"""Trials in processes of their own: what goes wrong there, and how they end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from named_problems import CHAIN
from trial_records import TRIAL

from hybridalloc.benchmarking import processes
from hybridalloc.benchmarking.performing import Task, perform
from hybridalloc.benchmarking.processes import perform_all
from hybridalloc.benchmarking.records import Ending, RecordFolder, TrialRecord
from hybridalloc.benchmarking.trials import BOUND
from hybridalloc.io.json_format import write_problem
from hybridalloc.problem import CostModel

MODULE = Path(__file__).parents[1] / "plugin" / "faulty_strategies.py"
ENTRY_POINTS = """\
[hybridalloc.strategies]
raises = faulty_strategies:Raises
crashes = faulty_strategies:Crashes
invalid = faulty_strategies:Invalid
stays = faulty_strategies:Stays
"""
PATIENCE_S = 60.0
"""How long to wait for what has to happen."""


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """The file of a small problem."""
    write_problem(CHAIN, tmp_path / "chain.json")
    return tmp_path / "chain.json"


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adds strategies that go wrong, here and in processes that are started."""
    information = tmp_path / "site" / "faulty_strategies-1.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Name: faulty-strategies\nVersion: 1\n")
    (information / "entry_points.txt").write_text(ENTRY_POINTS)
    shutil.copy(MODULE, tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait for what another process does."""
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def task(path: Path, strategy: str, **trial: object) -> Task:
    made = replace(TRIAL, name="chain", strategy=strategy, time_limit_s=1.0)
    return Task(replace(made, **trial), path, "chain", 2)  # type: ignore[arg-type]


def outcomes(path: Path, *strategies: str) -> dict[str, TrialRecord]:
    """What trials in two processes at a time leave."""
    folder = RecordFolder(path.parent / "records")
    folder.create()
    running: list[int] = []

    def watch(at_work: list[Task], done: Task | None) -> None:
        running.append(len(at_work))

    perform_all([task(path, x) for x in strategies], folder, 2, watch)
    assert max(running) <= 2
    return {record.trial.strategy: record for record in folder.read()}


@pytest.mark.usefixtures("faulty")
def test_trials_that_fail_are_recorded_and_end_nothing_else(chain: Path) -> None:
    names = ("raises", "crashes", "invalid", "slow")
    found = outcomes(chain, *names)
    reasons = {name: found[name].facts.reason for name in names}
    assert reasons["raises"].endswith("ArithmeticError: so many bytes")
    assert reasons["crashes"] == "the process ended with code 7: out of luck"
    assert reasons["invalid"].startswith("StrategyError: ")
    assert [found[name].facts.ending for name in names] == ["failed"] * 3 + ["done"]
    answer = found["slow"].answer
    assert answer is not None
    assert answer.time_s == answer.slow_s


def gone(pid: int) -> bool:
    """Whether a process has ended, be it that nobody has asked how."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


@pytest.fixture
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the strategy that stays tells its process and the one that it starts."""
    monkeypatch.setenv("STAYS", str(tmp_path / "pids"))
    return tmp_path / "pids"


@pytest.mark.usefixtures("faulty")
def test_a_trial_that_does_not_end_is_ended_with_what_it_started(
    chain: Path, pids: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "GRACE_S", 4.0)
    record = outcomes(chain, "stays")["stays"]
    assert record.facts.ending is Ending.FAILED
    assert record.facts.reason == "still at work 4 s after its time limit"
    assert all(gone(int(pid)) for pid in pids.read_text().split())


@pytest.mark.usefixtures("faulty")
def test_ctrl_c_ends_all_processes_and_leaves_no_record_of_theirs(
    chain: Path, pids: Path
) -> None:
    folder = RecordFolder(chain.parent / "records")
    folder.create()
    tasks = [task(chain, "slow"), task(chain, "stays")]

    def watch(running: list[Task], done: Task | None) -> None:
        if done is not None:  # the other has had as long to begin
            wait_until(pids.exists)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        perform_all(tasks, folder, 2, watch)
    assert [x.trial.strategy for x in folder.read()] == ["slow"]
    assert all(gone(int(pid)) for pid in pids.read_text().split())


@pytest.mark.usefixtures("faulty")
def test_trials_do_not_outlive_who_wanted_them(chain: Path, pids: Path) -> None:
    out = chain.parent / "out"
    given = ["bench", str(chain), "--strategies", "stays", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-m", "hybridalloc", *given],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    wait_until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    process.kill()
    process.wait()
    wait_until(lambda: all(gone(int(pid)) for pid in pids.read_text().split()))
    assert not list((out / "records").iterdir())


def test_a_program_without_estimates_is_skipped_under_cycles(chain: Path) -> None:
    record = perform(task(chain, "slow", cost_model=CostModel.CYCLES))
    assert record.facts.ending is Ending.SKIPPED
    assert record.facts.reason == "the program carries no estimates"
    assert record.facts.instructions == len(CHAIN.program)


def test_a_strategy_that_does_not_apply_is_skipped(chain: Path) -> None:
    record = perform(task(chain, "replay"))
    assert record.facts.ending is Ending.SKIPPED
    assert "answer" in record.facts.reason


def test_no_strategy_sees_the_compiler_s_answer_and_it_is_compared_with_it(
    bundled: Path,
) -> None:
    folder = bundled / "lstm_lm_b64_s128"
    assert perform(task(folder, "replay")).facts.ending is Ending.SKIPPED
    record = perform(task(folder, "slow"))
    assert record.answer is not None
    assert record.answer.xla_s is not None
    assert (record.facts.violations, record.facts.mismatches) == (0, 0)
    assert record.facts.instructions == 58
    assert record.facts.reading_s is not None
    ((_, time_s, found_by),) = record.facts.history
    assert (time_s, found_by) == (record.answer.time_s, "slow")


def test_a_robust_search_starts_from_the_compiler_s_answer(
    bundled: Path, chain: Path
) -> None:
    record = perform(task(bundled / "lstm_lm_b64_s128", "slow", robust=True))
    assert record.facts.ending is Ending.DONE
    assert record.answer is not None
    assert record.answer.time_s == record.answer.xla_s
    assert record.answer.speedups_vs_start == {"roofline": 1.0, "cycles": 1.0}
    without = perform(task(chain, "slow", robust=True))
    assert without.facts.ending is Ending.SKIPPED
    assert "no answer of the compiler's" in without.facts.reason


def test_a_file_that_is_no_program_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text("{")
    record = perform(task(tmp_path / "odd.json", "slow"))
    assert record.facts.ending is Ending.FAILED
    assert record.facts.reason.startswith("InputError: ")


def test_a_bound_is_proven_and_no_further_than_needed(chain: Path) -> None:
    record = perform(task(chain, BOUND))
    proven_s = record.facts.proven_s
    assert record.facts.ending is Ending.DONE
    assert proven_s is not None
    assert proven_s > 0
    known = perform(replace(task(chain, BOUND), known_s=proven_s / 2)).facts.proven_s
    assert known is not None
    assert known >= proven_s / 2 * (1 - 1e-5)
