"""Heuristics that vote in the game."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from game_cases import COPY, DROP, LOOP_AND_CHAIN, STAY, game_of

from hybridalloc.arrays import Ints
from hybridalloc.errors import UsageError
from hybridalloc.game import Action, Game, heuristics
from hybridalloc.game.environment import MallocGame
from hybridalloc.game.fast import FastGame
from hybridalloc.game.heuristics import USUAL, consult, names_in, votes_of
from hybridalloc.game.playback import playback
from hybridalloc.io.read import read_problem
from hybridalloc.problem import Problem
from hybridalloc.solver import Run
from hybridalloc.solving import solve

REAL = read_problem(Path(__file__).parents[2] / "examples/workloads/wide_deep_b8192")


@pytest.mark.parametrize("name", ["msa", "greedy", "belady"])
def test_a_strategy_that_is_followed_to_the_end_is_its_map_played_back(
    name: str,
) -> None:
    game = game_of(REAL, waits=True, shifts=True)
    game = game.advised(consult(game, (name,), (), Run()))
    fast = FastGame(game)
    found = solve(REAL, name, iterations=1).map
    assert found is not None
    position = fast.begin()
    while not position.is_terminal:
        follow = np.flatnonzero(position.mask()[3:])
        position.apply(3 + int(follow[0]) if follow.size else DROP)
    assert position.time_s <= playback(fast, found).time_s * 1.01


def test_the_relaxation_votes_in_parts() -> None:
    game = game_of(REAL)
    made = consult(game, ("relaxation",), (), Run())
    assert made.votes.sum(axis=2) == pytest.approx(1.0)
    assert (made.votes[0, :, DROP] < 0.5).any()


def test_who_has_no_answer_in_time_is_left_out() -> None:
    game = game_of(REAL)
    stay = np.zeros(len(game.steps), np.int64)

    def own(_: Game) -> Ints:
        return stay

    late = Run(deadline=time.monotonic())
    made = consult(game, USUAL[1:], (own,), late)
    assert made.names == ("own",)
    assert made.lines.tolist() == [stay.tolist()]
    none = FastGame(game.advised(consult(game, USUAL[1:], (), late)))
    assert none.actions == len(Action)


def test_who_has_no_answer_without_a_deadline_drops_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So that a network that is trained sees as many heuristics of every program."""
    nothing = dict[tuple[int, int], float]()
    monkeypatch.setattr(heuristics, "relaxed_serving", lambda *_: nothing)
    made = consult(game_of(REAL), ("slow", "relaxation"), (), Run())
    assert made.names == ("slow", "relaxation")
    assert (made.lines == DROP).all()


@pytest.mark.parametrize("iterations", [0, 50])
def test_where_iterations_are_counted_each_strategy_has_one(iterations: int) -> None:
    game = game_of(REAL)
    one = consult(game, ("greedy", "belady"), (), Run(iterations=1))
    made = consult(game, ("greedy", "belady"), (), Run(iterations=iterations))
    assert made.votes.tolist() == one.votes.tolist()


def test_what_stays_needs_no_copy() -> None:
    game = Game(LOOP_AND_CHAIN)
    served = {(0, 0): 0.5, (1, 0): 0.75, (1, 1): 0.25, (3, 0): 1.0}
    assert votes_of(game, served).tolist() == [
        [0.5, 0.0, 0.5],
        [0.0, 0.25, 0.75],
        [0.5, 0.25, 0.25],
        [0.0, 0.0, 1.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
    ]


def test_what_rounding_leaves_is_no_vote() -> None:
    votes = votes_of(Game(LOOP_AND_CHAIN), {(0, 0): -1e-13, (1, 0): 1 + 1e-13})
    assert votes[0].tolist() == [0.0, 0.0, 1.0]
    assert votes[2].tolist() == [0.0, 1.0, 0.0]


def test_ones_own_heuristic_votes_by_its_name() -> None:
    def large_ones(game: Game) -> list[int]:
        buffers = game.problem.program.buffers
        sizes = [buffers[x.buffer].size for x in game.steps]
        return [STAY if size > sizes[0] else DROP for size in sizes]

    game = Game(LOOP_AND_CHAIN)
    made = consult(game, (), (large_ones,), Run())
    assert made.names == ("large_ones",)
    assert set(made.lines[0].tolist()) <= {STAY, COPY, DROP}


def test_nobody_who_is_asked_sees_the_compilers_answer() -> None:
    assert REAL.compiler_map is not None
    game, seen = Game(REAL), list[Problem]()

    def own(game: Game) -> list[int]:
        seen.append(game.problem)
        return [DROP] * len(game.steps)

    consult(game, (), (own,), Run())
    assert seen == [replace(REAL, compiler_map=None)]
    with pytest.raises(UsageError, match="does not carry the compiler's answer"):
        consult(game, ("replay",), (), Run())
    with pytest.raises(UsageError, match="no other strategy may see what replay does"):
        MallocGame([REAL], heuristics="replay")


def test_names_are_of_strategies_or_the_relaxation() -> None:
    assert names_in("msa + relaxation") == ("msa", "relaxation")
    assert names_in("") == ()
    with pytest.raises(UsageError, match="unknown strategy 'mza'; did you mean 'msa'"):
        names_in("mza+relaxation")
    with pytest.raises(ValueError, match="'msa' is there twice"):
        names_in("msa+msa")


def test_a_name_unlike_any_gets_the_names_that_may_be_there() -> None:
    with pytest.raises(UsageError, match="'nope'; known: relaxation, slow") as caught:
        names_in("nope")
    known = str(caught.value).partition("known: ")[2].split(", ")
    assert {"msa", "hybrid"} <= set(known)
    assert not {"replay", "best", "fits"} & set(known)
    with pytest.raises(UsageError, match="'relaxtion'; did you mean 'relaxation'"):
        names_in("msa+relaxtion")


@pytest.mark.parametrize(
    ("name", "message"), [("fits", "static allocation"), ("best", "'best'")]
)
def test_a_name_that_stands_for_something_else_says_what(
    name: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        names_in(name)
