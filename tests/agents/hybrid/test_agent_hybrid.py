"""The strategy ``agent-hybrid``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hybridalloc.agents.hybrid.agent import AgentHybrid, AgentHybridConfig
from hybridalloc.agents.muzero.programs import EXTENDED
from hybridalloc.errors import UsageError
from hybridalloc.game import Action, Game, heuristics
from hybridalloc.game.fast import FastGame
from hybridalloc.game.heuristics import USUAL, consult
from hybridalloc.io.read import read_problem
from hybridalloc.problem import Problem
from hybridalloc.solver import Run
from hybridalloc.solving import solve

WORKLOADS = Path(__file__).parents[3] / "examples" / "workloads"
REAL = read_problem(WORKLOADS / "gcn3_train_n4096")


def time_s(given: Problem, games: int) -> float:
    """Of the best map after so many games beside the openings."""
    found = solve(given, "agent-hybrid", iterations=games).time
    assert found is not None
    return found


def test_it_is_at_least_as_good_as_each_heuristic_that_is_followed() -> None:
    game = Game(REAL, EXTENDED)
    made = consult(game, USUAL, (), Run(iterations=1))
    fast = FastGame(game)
    found_s = time_s(REAL, 1)
    for line in made.lines:
        position = fast.begin()
        position.follow(line, np.zeros(line.size, np.bool_), 10**6)
        assert found_s <= position.time_s * (1 + 1e-9)


def test_games_with_options_find_more_than_the_openings() -> None:
    given = read_problem(WORKLOADS / "mixer_block_b128", capacity=32 * 2**20)
    assert time_s(given, 40) < time_s(given, 0)


def test_who_is_followed_all_the_way_has_found_it() -> None:
    strategy = "agent-hybrid(heuristics=greedy+belady)"
    finders = [x.found_by for x in solve(REAL, strategy, iterations=0).history]
    assert finders[0] == strategy  # all in slow memory, and the eager game
    assert finders[-1] in ("greedy", "belady")
    voting = solve(REAL, strategy[:-1] + ",options=false)", iterations=8)
    assert not {"greedy", "belady"} & {x.found_by for x in voting.history}


@pytest.mark.parametrize("simulations", [0, 3])
def test_the_same_seed_finds_the_same_map(simulations: int) -> None:
    strategy = f"agent-hybrid(simulations={simulations},batch=4)"
    one, other = (solve(REAL, strategy, iterations=24, seed=7) for _ in range(2))
    assert one.map == other.map


def test_ones_own_heuristic_may_be_followed() -> None:
    asked = list[Game]()

    def never(game: Game) -> list[Action]:
        asked.append(game)
        return [Action.DROP] * len(game.steps)

    config = AgentHybridConfig(heuristics="greedy", own=(never,), batch=4)
    found = solve(REAL, AgentHybrid(config), iterations=16)
    assert found.map is not None
    assert len(asked) == 1


def test_the_compilers_answer_cannot_be_followed() -> None:
    assert REAL.compiler_map is not None
    with pytest.raises(UsageError, match="no other strategy may see what replay does"):
        solve(REAL, "agent-hybrid(heuristics=replay)", iterations=1)


def test_without_heuristics_it_plays_the_three_actions() -> None:
    found = solve(REAL, 'agent-hybrid(heuristics="",batch=4)', iterations=8)
    assert found.map is not None


def test_without_any_answer_it_plays_the_three_actions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(heuristics, "ASKING_SHARE", 0.0)
    plain, asked = (
        solve(REAL, f"agent-hybrid({x}batch=4)", iterations=8, time_limit=120)
        for x in ('heuristics="",', "heuristics=greedy+belady,")
    )
    assert asked.map == plain.map


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("heuristics=mza", "unknown strategy"),
        ("heuristics=msa+msa", "twice"),
        ("prior=1.5", "prior"),
        ("simulations=-1", "simulations"),
        ("own=1", "no option 'own'"),
    ],
)
def test_options_that_are_not_possible_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        solve(REAL, f"agent-hybrid({text})", iterations=1)
