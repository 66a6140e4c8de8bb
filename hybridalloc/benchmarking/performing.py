"""Doing one trial, in this process."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from hybridalloc.benchmarking.machine import cores, machine
from hybridalloc.benchmarking.records import Ending, Facts, TrialRecord
from hybridalloc.benchmarking.trials import Trial
from hybridalloc.checker import check
from hybridalloc.errors import HybridAllocError, UsageError
from hybridalloc.io.minimalloc import read_buffers
from hybridalloc.io.read import read_problem
from hybridalloc.oracle import execute
from hybridalloc.problem import CostModel, Problem
from hybridalloc.report.records import record, reference_times
from hybridalloc.report.static import static_record
from hybridalloc.solver import Result
from hybridalloc.solving import cutoff, solve
from hybridalloc.static.rehearsal import rehearse
from hybridalloc.static.solving import solve_static


@dataclass(frozen=True, slots=True)
class Task:
    """A trial to do, and what does not matter to what it comes to."""

    trial: Trial
    path: Path
    """Where to read the program."""
    family: str
    processes: int
    """How many trials run at a time."""
    known_s: float | None = None
    """The least time of any map known, which ends the proof of a bound."""
    maps: Path | None = None
    """The folder for a page that shows the map, if there is to be one."""

    def unfinished(self) -> TrialRecord:
        """The record of the trial as it begins; what is not known yet is missing."""
        facts = Facts(
            ending=Ending.FAILED,
            path=str(self.path),
            family=self.family,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            machine=machine(),
            cores=cores(),
            processes=self.processes,
        )
        return TrialRecord(self.trial, facts)


def perform(task: Task) -> TrialRecord:
    """Do a trial; what goes wrong is part of its record."""
    found = task.unfinished()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            found = _perform(task, found)
        except UsageError as error:
            found = _ended(found, Ending.SKIPPED, str(error))
        except Exception as error:  # whatever a strategy raises
            reason = f"{type(error).__name__}: {error}"
            found = _ended(found, Ending.FAILED, " ".join(reason.split()))
    told = tuple(str(x.message) for x in caught if issubclass(x.category, UserWarning))
    return replace(found, facts=replace(found.facts, warnings=told))


def _perform(task: Task, begun: TrialRecord) -> TrialRecord:
    trial, started = task.trial, time.perf_counter()
    if trial.cost_model is None:
        return _place(task, begun)
    problem = read_problem(
        task.path, target=trial.given_target, capacity=trial.given_capacity_bytes
    )
    program = problem.program
    facts = replace(
        begun.facts,
        reading_s=time.perf_counter() - started,
        instructions=len(program),
        buffers=len(program.buffers),
    )
    begun = replace(begun, facts=facts)
    if trial.cost_model is CostModel.CYCLES and not problem.has_estimates:
        return _ended(begun, Ending.SKIPPED, "the program carries no estimates")
    judged = replace(problem, cost_model=trial.cost_model)
    return (_bound if trial.is_bound else _search)(task, judged, begun)


def _place(task: Task, begun: TrialRecord) -> TrialRecord:
    """Have the strategy look for offsets in a CSV file, and count its CPU seconds."""
    trial, started = task.trial, time.perf_counter()
    problem = read_buffers(task.path, trial.given_capacity_bytes)
    reading_s = time.perf_counter() - started
    rehearse(trial.strategy)
    cpu_s = -time.process_time()
    result = solve_static(
        problem,
        trial.strategy,
        time_limit=trial.time_limit_s,
        seed=trial.seed,
        workers=trial.workers,
    )
    cpu_s += time.process_time()
    facts = replace(begun.facts, reading_s=reading_s, buffers=len(problem), cpu_s=cpu_s)
    placement = static_record(str(task.path), result)
    return _ended(replace(begun, facts=facts, placement=placement), Ending.DONE)


def _search(task: Task, problem: Problem, begun: TrialRecord) -> TrialRecord:
    """Have the strategy search, without the compiler's answer; judge what it finds.

    Only a robust search is given that, as its warm start.
    """
    trial = task.trial
    if trial.robust and problem.compiler_map is None:
        reason = "the program carries no answer of the compiler's to start from"
        return _ended(begun, Ending.SKIPPED, reason)
    references = reference_times(problem)
    given = replace(problem, compiler_map=None)
    result = solve(
        given,
        trial.strategy,
        time_limit=trial.time_limit_s,
        seed=trial.seed,
        workers=trial.workers,
        warm_start=problem.compiler_map if trial.robust else None,
        robust=trial.robust,
    )
    answer = record(str(task.path), problem, result, references)
    if task.maps is not None and result.map is not None:
        _draw(task.maps / f"{Path(trial.file_name).stem}.html", task, problem, result)
    return _judged(given, result, replace(begun, answer=answer))


def _draw(page: Path, task: Task, problem: Problem, result: Result) -> None:
    """Draw a map, beside the compiler's own if there is one; or warn."""
    from hybridalloc.report.picture import draw  # large

    first, *rest = (x for x in (problem.compiler_map, result.map) if x is not None)
    beside = rest[0] if rest else None
    labels = "XLA", task.trial.strategy
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        draw(problem, first, page, beside=beside, labels=labels)
    except (HybridAllocError, OSError) as error:
        warnings.warn(f"no page of the map: {error}", stacklevel=1)


def _judged(problem: Problem, result: Result, found: TrialRecord) -> TrialRecord:
    if result.map is None:
        return _ended(found, Ending.DONE)
    facts = replace(
        found.facts,
        violations=len(check(problem, result.map)),
        mismatches=len(execute(problem, result.map)),
        history=tuple((x.runtime, x.time, x.found_by) for x in result.history),
    )
    found = replace(found, facts=facts)
    if facts.violations or facts.mismatches:
        reason = f"{facts.violations} violations, {facts.mismatches} mismatches"
        return _ended(found, Ending.FAILED, reason)
    return _ended(found, Ending.DONE)


def _bound(task: Task, problem: Problem, begun: TrialRecord) -> TrialRecord:
    """Prove a lower bound; a known time that is optimal is good enough."""
    from hybridalloc.bounds import lower_bound  # loads a solver of linear programs

    known_s = math.inf if task.known_s is None else task.known_s
    best_s = min(known_s, reference_times(problem).least_valid_s)
    limit = task.trial.time_limit_s
    bound = lower_bound(problem, time_limit=limit, cutoff=cutoff(best_s))
    facts = replace(begun.facts, proven_s=bound.seconds)
    return _ended(replace(begun, facts=facts), Ending.DONE)


def _ended(found: TrialRecord, ending: Ending, reason: str = "") -> TrialRecord:
    return replace(found, facts=replace(found.facts, ending=ending, reason=reason))
