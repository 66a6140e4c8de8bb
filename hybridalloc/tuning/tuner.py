"""The loop: capture, solve, have the plan compiled, learn its cycles, solve again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import ascii_lowercase

from hybridalloc.checker import check
from hybridalloc.compiler.capture import capture_source
from hybridalloc.compiler.compilation import Request, Stage, compile_all
from hybridalloc.compiler.deploying import Deployment, deploy
from hybridalloc.compiler.source import Source
from hybridalloc.errors import InputError, UsageError
from hybridalloc.io.files import read_text, write_text
from hybridalloc.io.json_format import read_map, write_map
from hybridalloc.io.read import Input, read_input, read_problem
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import CostModel, Problem
from hybridalloc.ranges import require_within
from hybridalloc.solving import solve
from hybridalloc.target import Target
from hybridalloc.tuning.claim import claimed, require_same
from hybridalloc.tuning.observing import (
    ESTIMATES,
    estimated_cycles,
    measured_file,
    observe,
    read_measured,
)
from hybridalloc.tuning.trial import DEFAULT, Trial, times_s

CAPTURED = "program"
"""The folder of the captured program, within that of a tuning."""
TOLERANCE = 1e-4
"""A gain below this share of the time is none."""
MARGIN = 1.3
"""A round is begun if there is this much more time than the last one took."""


@dataclass(frozen=True, slots=True)
class TuneConfig:
    """How long to plan, and when to stop."""

    strategy: str = "hybrid"
    """What plans, among expressible maps."""
    solve_s: float = 20.0
    """Seconds for each plan."""
    plans: int = 2
    """Plans in each round, which are compiled side by side."""
    patience: int = 2
    """Rounds without gain after which there is no other."""
    rounds: int = 20
    """The most rounds."""

    def __post_init__(self) -> None:
        require_within("solve_s", self.solve_s, 0)
        for name in ("plans", "patience", "rounds"):
            require_within(name, getattr(self, name), 1)


@dataclass
class Tuner:
    """A tuning in a folder: what is there of an earlier run is taken up again."""

    source: Source
    target: Target
    folder: Path
    config: TuneConfig
    deadline: float
    """In seconds of ``time.monotonic()``."""
    say: Callable[[str], None]
    """Told what is being done."""
    is_over: Callable[[], bool] = lambda: False
    """Whether to end before the deadline; planning answers Ctrl-C with its best."""
    measured: Mapping[str, Path] = field(default_factory=dict)
    """Tables of times of a user's own runs, by trial; kept in the folder."""
    trials: list[Trial] = field(default_factory=list)
    """The compiler's own answer, then every plan in order."""

    @property
    def best(self) -> Trial:
        """The trial that takes the least; the compiler's own unless it is beaten."""
        return min(self.trials, key=lambda trial: trial.time_s)

    @property
    def is_caught_up(self) -> bool:
        """Whether all plans that were compiled in the folder are among the trials."""
        return {x.name for x in self.trials} >= {DEFAULT, *self._compiled}

    @property
    def _compiled(self) -> set[str]:
        """The names of the plans that were compiled in the folder."""
        return {path.parent.name for path in self.folder.glob(f"*/{ESTIMATES}")}

    def run(self) -> None:
        """Go round until there is no gain, or no time.

        Raises:
            CompilerError: A compile fails.
            InputError: What is in the folder cannot be read.
            UsageError: The folder holds the tuning of another program, or another
                process is tuning in it.
        """
        with claimed(self.folder):
            self._begin()
            self._go_round()

    def _go_round(self) -> None:
        unchanged, last_s = 0, 0.0
        for number in range(1, self.config.rounds + 1):
            is_due = unchanged < self.config.patience and self._has_time(last_s)
            if not (is_due or self._is_there(number)):
                return
            before, begun = self.best.time_s, time.monotonic()
            if not self._round(number):
                return
            gained = self.best.time_s < before * (1 - TOLERANCE)
            unchanged = 0 if gained else unchanged + 1
            last_s = time.monotonic() - begun

    def _has_time(self, last_s: float) -> bool:
        """Whether there is time for a round that takes as long as the last one."""
        return time.monotonic() + MARGIN * last_s <= self.deadline

    def _is_there(self, number: int) -> bool:
        """Whether an earlier run has had plans of this round compiled."""
        return any(folder.exists() for folder in self._folders(number))

    def _begin(self) -> None:
        """Capture the program, and take the compiler's own answer as a trial."""
        require_same(self.folder, self.source, self.target)
        folder, begun = self.folder / CAPTURED, time.monotonic()
        if not folder.exists():
            self.say("compiling as the compiler places, and all in slow memory")
            capture_source(
                self.source, self.target.name, folder, cycles=True, options={}
            )
        taken = time.monotonic() - begun
        self._found = read_input(
            folder, target=self.target, cost_model=CostModel.CYCLES
        )
        problem = self._found.problem
        own = problem.compiler_map
        if own is None:
            raise InputError(folder, "expected the compiler's own answer")
        self._take_measured()
        placed = {
            instruction.name: instruction.observations[-1].cycles
            for instruction in problem.program.instructions
            if any(x.fast for x in instruction.observations)
        }
        placed |= self._measured(DEFAULT)
        self._problem = observe(problem, own, placed)
        seconds = times_s(self._problem, own)
        self.trials.append(Trial(DEFAULT, own, own, seconds, seconds, taken))

    def _folders(self, number: int) -> list[Path]:
        """Where the plans of a round go, compiled; an earlier run may have had more."""
        folders = [self.folder / f"round-{number}{x}" for x in ascii_lowercase]
        plans = self.config.plans
        return folders[:plans] + [x for x in folders[plans:] if x.exists()]

    def _round(self, number: int) -> bool:
        """Plan, compile, learn; whether there was a plan not known yet."""
        plans = list(self._plans(number))
        missing = [x for x in plans if not x.compiled.exists()]
        if missing and self.is_over():
            return False
        begun = time.monotonic()
        if missing:
            self.say(f"round {number}: compiling {len(missing)} plans")
            compile_all([self._request(x) for x in missing])
        taken = time.monotonic() - begun
        for plan in plans:
            self._learn(plan, taken)
        return bool(plans)

    def _plans(self, number: int) -> Iterator[_Plan]:
        """The plans of a round; those of an earlier run as they are."""
        folders = self._folders(number)
        known = {trial.planned for trial in self.trials}
        for i, folder in enumerate(folders):
            file = folder.with_suffix(".map.json")
            found: MemoryMap | None
            if file.exists():
                found = read_map(file, self._problem)
            elif folders[0].exists():  # an earlier run had no more plans
                continue
            else:
                found = self._solve(number, i)
                if self.is_over():
                    return
                if found is None or found in known:
                    continue
                write_map(found, self._problem, file)
            known.add(found)
            yield _Plan(folder, deploy(self._input, found))

    @property
    def _input(self) -> Input:
        return replace(self._found, problem=self._problem)

    def _solve(self, number: int, i: int) -> MemoryMap | None:
        """A plan: under what is known of cycles; the second of round 1 by roofline."""
        model = CostModel.ROOFLINE if (number, i) == (1, 1) else CostModel.CYCLES
        problem = replace(self._problem, cost_model=model)
        self.say(f"round {number}: planning under {model}, {self._best_text}")
        start = None
        if i == 0 and not check(problem, self.best.planned):
            start = self.best.planned  # the compiler's own may not fit the target
        return solve(
            problem,
            self.config.strategy,
            time_limit=min(
                self.config.solve_s, max(0.0, self.deadline - time.monotonic())
            ),
            seed=number * self.config.plans + i,
            warm_start=start,
            expressible=True,
        ).map

    @property
    def _best_text(self) -> str:
        gain = self.trials[0].time_s / self.best.time_s
        return f"{gain:.3f}x the default so far"

    def _request(self, plan: _Plan) -> Request:
        settings = plan.deployment.settings
        name = self.target.name
        return Request(self.source, name, settings, Stage.CODE, plan.compiled)

    def _learn(self, plan: _Plan, seconds: float) -> None:
        """Take what a compile tells into the problem, and the plan for a trial."""
        planned = plan.deployment.map
        planned_s = times_s(self._problem, planned)
        realised = read_problem(plan.compiled, target=self.target).compiler_map
        if realised is None:
            raise InputError(plan.compiled, "expected the compiler's answer")
        name = plan.compiled.name
        cycles = estimated_cycles(plan.compiled) | self._measured(name)
        self._problem = observe(self._problem, realised, cycles)
        realised_s = times_s(self._problem, realised)
        self.trials.append(
            Trial(name, planned, realised, planned_s, realised_s, seconds)
        )

    def _take_measured(self) -> None:
        """Put the tables of measured times beside the trials that they are of.

        Raises:
            InputError: One cannot be read, or is of another program.
            UsageError: There is no such trial.
        """
        trials = {DEFAULT, *self._compiled}
        names = {x.name for x in self._found.problem.program.instructions}
        for trial, table in self.measured.items():
            if trial not in trials:
                known = ", ".join(sorted(trials))
                raise UsageError(f"there is no plan {trial} here, only {known}")
            if names.isdisjoint(read_measured(table)):
                raise InputError(table, "names no instruction of the program")
            write_text(measured_file(self.folder, trial), read_text(table))

    def _measured(self, trial: str) -> dict[str, float]:
        """The cycles that a user's own run took, by instruction; nothing if unknown."""
        file = measured_file(self.folder, trial)
        if not file.exists():
            return {}
        clock_hz = self.target.clock_hz
        return {name: taken * clock_hz for name, taken in read_measured(file).items()}

    def settings(self) -> Deployment | None:
        """What to deploy; ``None`` if that is the compiler's default."""
        if self.best.name == DEFAULT:
            return None
        return deploy(self._input, self.best.planned)

    @property
    def problem(self) -> Problem:
        """The problem with all that was learned."""
        return self._problem


@dataclass(frozen=True)
class _Plan:
    compiled: Path
    """Where the compile goes."""
    deployment: Deployment
