"""Observations of many positions at once."""

from __future__ import annotations

import numpy as np
from muzero_cases import COARSE, positions

from hybridalloc.agents.muzero.observing import Observations, Observing
from hybridalloc.game.observation import Observer


def test_many_positions_of_several_games_are_seen_as_one_by_one() -> None:
    found = positions(0, 9)
    together = Observing(COARSE).observe(found)
    for k, position in enumerate(found):
        alone = Observer(position.game, COARSE).observe(position)
        for seen, expected in zip(together.one(k), alone, strict=True):
            assert np.array_equal(seen, expected)


def test_given_arrays_are_written_over_as_far_as_there_are_positions() -> None:
    found, observing = positions(1, 5), Observing(COARSE)
    room = Observations.empty(8, COARSE)
    for array in room:
        array.fill(7)
    observing.observe_into(found, room)
    for seen, expected in zip(room, observing.observe(found), strict=True):
        assert np.array_equal(seen[:5], expected)
        assert (seen[5:] == 7).all()
    for some, whole in zip(room.first(5), room, strict=True):
        assert len(some) == 5
        assert np.shares_memory(some, whole)


def test_nothing_may_be_observed() -> None:
    assert Observing(COARSE).observe([]).profile.shape == (0, 2, 8, 8)
