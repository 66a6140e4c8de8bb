"""Linear programs small enough to be solved by hand."""

from __future__ import annotations

import math
import signal
import threading
from types import SimpleNamespace

import pytest
from linear_programs import program, row

from hybridalloc.bounds.certificate import ExactProgram, Leaf
from hybridalloc.bounds.linear_solver import LinearSolver

# x <= 2 costs 1, y <= 5 costs 2, and together they are at least 3: x = 2, y = 1, 4.
TWO = program((1, 2), (2, 5), ((1, 1), 3, math.inf))


def test_a_program_is_solved_with_its_dual_values() -> None:
    solution = LinearSolver(TWO).solve(math.inf)
    assert solution.optimal
    assert not solution.infeasible
    assert solution.values == pytest.approx([2, 1])
    assert solution.duals == pytest.approx([2])  # one more is one more y
    assert solution.reduced_costs == pytest.approx([-1, 0])


def test_columns_are_fixed_and_free_again() -> None:
    solver = LinearSolver(TWO)
    solver.fix({0: 0.0})
    assert solver.solve(math.inf).values == pytest.approx([0, 3])
    solver.fix({1: 3.0})
    assert solver.solve(math.inf).values == pytest.approx([0, 3])
    solver.fix({})
    assert solver.solve(math.inf).values == pytest.approx([2, 1])


def test_rows_are_added() -> None:
    solver = LinearSolver(TWO)
    solver.solve(math.inf)
    solver.add([row((1, 0), high=1.0), row((0, 1), low=2.5)])
    assert solver.solve(math.inf).values == pytest.approx([0.5, 2.5])


@pytest.mark.parametrize("warm", [False, True])
def test_dual_values_prove_that_there_is_no_solution(warm: bool) -> None:
    solver = LinearSolver(TWO)
    if warm:
        solver.solve(math.inf)
    impossible = row((1, 1), low=8.0)  # x + y <= 2 + 5
    solver.add([impossible])
    solution = solver.solve(math.inf)
    assert solution.infeasible
    assert not solution.optimal
    leaf = Leaf.of(solution.duals, infeasible=True)
    assert ExactProgram(TWO, [impossible]).bound(leaf, {}) is None


def test_no_time_still_gives_an_answer() -> None:
    solution = LinearSolver(TWO).solve(0.0)
    assert not solution.infeasible
    bound = ExactProgram(TWO).bound(Leaf.of(solution.duals), {})
    assert bound is not None
    assert bound <= 4


class Interrupted(threading.Event):
    """The user presses Ctrl-C as soon as somebody waits for it."""

    pressed = False

    def wait(self, timeout: float | None = None) -> bool:
        if not Interrupted.pressed:
            Interrupted.pressed = True
            signal.raise_signal(signal.SIGINT)
        return super().wait(timeout)


def test_ctrl_c_ends_it_and_leaves_a_solver_that_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solver = LinearSolver(TWO)
    Interrupted.pressed = False
    with monkeypatch.context() as patch:
        patched = SimpleNamespace(Event=Interrupted, Thread=threading.Thread)
        patch.setattr("hybridalloc.beside.threading", patched)
        with pytest.raises(KeyboardInterrupt):
            solver.solve(math.inf)
    assert Interrupted.pressed
    assert solver.solve(math.inf).values == pytest.approx([2, 1])
