"""Before the clock starts, a strategy solves a tiny program once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hybridalloc import Chain, jit, rehearsal
from hybridalloc.agents.hybrid import AgentHybrid, AgentHybridConfig
from hybridalloc.checker import check
from hybridalloc.compose import as_solver
from hybridalloc.errors import UsageError
from hybridalloc.game import Action, Game
from hybridalloc.problem import Problem
from hybridalloc.rehearsal import ITERATIONS, rehearse
from hybridalloc.solver import Outcome, Run


@dataclass(frozen=True)
class Following:
    """The options of a solver that follows heuristics."""

    heuristics: str = ""


@dataclass
class Watched:
    """A solver that notes what it is asked for, and fails."""

    asked: list[tuple[Problem, Run]] = field(default_factory=list)
    config: Following = Following()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        self.asked.append((problem, run))
        raise RuntimeError("no such library")


Watched.__module__ = "hybridalloc.watched"  # one of our own


class Foreign(Watched):
    """The same, of another package."""


@pytest.fixture(autouse=True)
def _anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """In each test nothing has been rehearsed yet."""
    monkeypatch.setattr(rehearsal, "_rehearsed", set())


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    """What every strategy is, for now, on a machine that keeps nothing."""
    solver = Watched()
    monkeypatch.setattr(rehearsal, "as_solver", lambda text: solver)
    monkeypatch.setattr(jit, "note_of", lambda text: None)
    return solver


def test_what_others_have_written_is_not_rehearsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solver = Foreign()
    monkeypatch.setattr(rehearsal, "as_solver", lambda text: solver)
    monkeypatch.setattr(jit, "note_of", lambda text: None)
    rehearse("a strategy of another package")
    assert not solver.asked


def test_what_is_noted_is_not_rehearsed_again(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(jit, "note_of", lambda text: tmp_path / "note")
    rehearse("a strategy on a new machine")
    monkeypatch.setattr(rehearsal, "_rehearsed", set())
    rehearse("a strategy on a new machine")
    assert len(watched.asked) == 1


def test_strategies_of_one_kind_are_rehearsed_once(watched: Watched) -> None:
    rehearse("a strategy asked for twice")
    rehearse("the same with other options")
    assert len(watched.asked) == 1


def test_heuristics_are_rehearsed_with_who_follows_them(watched: Watched) -> None:
    for heuristics in ("", "msa", "msa+greedy", "msa"):
        watched.config = Following(heuristics)
        rehearse("a strategy that follows")
    assert len(watched.asked) == 3


def test_a_rehearsal_has_iterations_and_no_limit_of_time(watched: Watched) -> None:
    rehearse("a strategy that is watched")
    ((_, run),) = watched.asked
    assert run == Run(iterations=ITERATIONS)


def test_what_fails_in_a_rehearsal_is_not_told(watched: Watched) -> None:
    rehearse("a strategy that fails")
    assert watched.asked


def test_the_program_has_one_of_everything(watched: Watched) -> None:
    rehearse("a strategy that sees the program")
    program = watched.asked[0][0].program
    assert program.loops
    assert {(x.is_input, x.is_output) for x in program.buffers} == {
        (True, False),
        (False, False),
        (False, True),
    }
    updates = [x for x in program.uses[1] if x.access.read_bytes and x.access.writes]
    assert len(updates) == 2


def test_a_text_that_names_no_strategy_is_refused() -> None:
    with pytest.raises(UsageError, match="gredy"):
        rehearse("gredy")


def test_a_strategy_finds_a_map_of_the_program(watched: Watched) -> None:
    """So its inner loops have been run."""
    rehearse("a strategy that is not greedy")
    problem, run = watched.asked[0]
    found = as_solver("greedy").solve(problem, run).map
    assert found is not None
    assert len(found) > 0
    assert check(problem, found) == ()


def test_a_solver_is_rehearsed_as_a_text_is_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jit, "note_of", lambda text: None)
    solver, begun = Watched(), list[int]()
    rehearse(Chain(solver, "slow"), lambda: begun.append(len(solver.asked)))
    assert len(solver.asked) == 1
    assert begun[0] == 0


def test_heuristics_of_the_users_own_are_not_asked_in_a_rehearsal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jit, "note_of", lambda text: None)
    asked: list[Game] = []

    def own(game: Game) -> list[int]:
        asked.append(game)
        return [Action.DROP] * len(game.steps)

    rehearse(AgentHybrid(AgentHybridConfig(heuristics="", own=(own,))))
    assert not asked
