"""What the search refuses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from table_model import TableModel, random_table

from hybridalloc.agents.muzero.model import Evaluation, Expansion
from hybridalloc.agents.muzero.search import SearchConfig, search
from hybridalloc.arrays import Ints

RNG = np.random.default_rng(0)
NOISE = RNG.gumbel(size=(2, 3))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("simulations", 0, "simulations 0 is not at least 1"),
        ("considered_actions", 0, "considered_actions 0 is not at least 1"),
        ("c_visit", -1.0, "c_visit -1.0 is not a number from 0 on"),
        ("c_scale", float("nan"), "c_scale nan is not a number from 0 on"),
    ],
)
def test_parameters_out_of_range_are_refused(
    name: str, value: float, message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        SearchConfig(**{name: value})  # type: ignore[arg-type]  # any of them


def roots(**changes: Any) -> Evaluation:
    """Two roots with three actions, changed somehow."""
    sound = Evaluation(np.zeros((2, 3)), np.zeros(2), np.ones((2, 3), np.bool_))
    return sound._replace(**changes)


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        (roots(masks=np.eye(2, 3) > 1), "root 0: no action is legal"),
        (roots(values=np.array([0.0, np.nan])), "root 1: value nan"),
        (roots(logits=np.full((2, 3), np.inf)), "root 0: value 0.0 or logits [inf"),
        (roots(values=np.zeros((2, 1))), "root: values (2, 1) are not (2,)"),
        (
            roots(masks=np.ones((2, 2), np.bool_)),
            "root: logits (2, 3) and masks (2, 2)",
        ),
        (roots(logits=np.zeros(3)), "root: logits (3,)"),
    ],
)
def test_roots_that_make_no_sense_are_refused(seen: Evaluation, message: str) -> None:
    model = TableModel(random_table(RNG, 3, 3))
    with pytest.raises(ValueError, match=re.escape(message)):
        search(model, seen, SearchConfig(), NOISE)


@dataclass
class Broken(TableModel):
    """Says something else of steps than the table."""

    said: Expansion | None = None

    def expand(
        self, games: Ints, parents: Ints, actions: Ints, nodes: Ints
    ) -> Expansion:
        """The same whatever the step."""
        assert self.said is not None
        return self.said


def steps(**changes: Any) -> Expansion:
    """Two steps, changed somehow."""
    return Expansion(np.zeros(2), np.zeros(2, np.bool_), roots())._replace(**changes)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (steps(rewards=np.array([0.0, np.nan])), "step 1: reward nan is not finite"),
        (steps(rewards=np.zeros(3)), "step: rewards (3,)"),
        (steps(terminal=np.zeros((2, 2), np.bool_)), "terminal (2, 2)"),
        (steps(evaluation=roots(masks=np.eye(2, 3) > 1)), "step 0: no action is legal"),
        (steps(evaluation=roots(values=np.zeros(1))), "step: values (1,) are not (2,)"),
    ],
)
def test_steps_that_make_no_sense_are_refused(said: Expansion, message: str) -> None:
    model = Broken(random_table(RNG, 3, 3), said=said)
    with pytest.raises(ValueError, match=re.escape(message)):
        search(model, roots(), SearchConfig(), NOISE)


def test_what_is_said_of_an_end_does_not_matter() -> None:
    nothing = Evaluation(np.full((2, 3), np.nan), np.full(2, np.nan), np.eye(2, 3) > 1)
    said = Expansion(np.ones(2), np.ones(2, np.bool_), nothing)
    model = Broken(random_table(RNG, 3, 3), said=said)
    found = search(model, roots(), SearchConfig(4), NOISE)
    assert found.value.tolist() == [4 / 5, 4 / 5]
