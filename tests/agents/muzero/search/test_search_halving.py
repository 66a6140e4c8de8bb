from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridalloc.agents.muzero.search.halving import halving, turns_of


@pytest.mark.parametrize(
    ("actions", "simulations", "turns"),
    [
        (1, 4, [0, 1, 2, 3]),
        (2, 5, [0, 0, 1, 1, 2]),
        (3, 8, [0, 0, 0, 1, 1, 2, 2, 3]),  # 1 round of 3, then 2 rounds of 2
        (4, 16, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]),
        (16, 3, [0, 0, 0]),
    ],
)
def test_turns_are_those_worked_out_by_hand(
    actions: int, simulations: int, turns: list[int]
) -> None:
    assert halving(actions, simulations) == turns


@given(st.integers(1, 20), st.integers(1, 200))
def test_there_is_always_an_action_with_as_many_visits_as_asked_for(
    actions: int, simulations: int
) -> None:
    visits = [0] * actions
    turns = halving(actions, simulations)
    assert len(turns) == simulations
    for turn in turns:
        visits[visits.index(turn)] += 1
    assert max(visits) - sorted(visits)[-2 if actions > 1 else -1] <= 1


def test_each_game_has_the_turns_of_its_legal_actions() -> None:
    turns = turns_of(np.array([1, 2, 5]), considered=3, simulations=8)
    assert turns.T.tolist() == [halving(1, 8), halving(2, 8), halving(3, 8)]
