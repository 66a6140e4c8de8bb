"""Trees small enough to work out by hand.

Everywhere c_visit = c_scale = 1: at a node whose actions have at most n visits, the
least value weighs 0 and the greatest 1 + n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

import numpy as np
import pytest
from table_model import Table, TableModel, searched

from hybridalloc.agents.muzero.search import SearchConfig

Row = Sequence[float]
End = None
"""Instead of a state: nothing comes after."""
Step = tuple[float, int | None]
"""A reward, and the state that it leads to."""


def config(simulations: int, considered: int) -> SearchConfig:
    return SearchConfig(
        simulations, considered, c_visit=1.0, c_scale=1.0, narrowest=1e-8
    )


def table(
    values: Row, steps: Sequence[Mapping[int, Step]], logits: Mapping[int, Row]
) -> Table:
    """States with these values and legal steps, and one more that is the end.

    The model, which cannot know that nothing comes after the end, has a value of it.
    """
    ending, actions = len(values), max(max(step) for step in steps) + 1
    successors = np.full((ending + 1, actions), ending)
    rewards, masks = np.zeros(successors.shape), np.zeros(successors.shape, np.bool_)
    priors = np.zeros(successors.shape)
    for state, of_state in enumerate(steps):
        for action, (reward, after) in of_state.items():
            successors[state, action] = ending if after is None else after
            rewards[state, action], masks[state, action] = reward, True
    for state, row in logits.items():
        priors[state] = row
    return Table(successors, rewards, priors, np.array([*values, 7.0]), masks)


def softmax(*logits: float) -> list[float]:
    total = sum(exp(x) for x in logits)
    return [exp(x) / total for x in logits]


def test_two_simulations_try_two_actions_and_take_the_better_one() -> None:
    model = TableModel(table([0.5], [{0: (0.2, End), 1: (0.6, End)}], {}))
    found = searched(model, [0], config(2, considered=2), noise=[[1, 0]])
    # 1: both actions have the root's value, 0.5; noise decides for 0. Return 0.2.
    # 2: the action without visits is 1. Return 0.6.
    assert model.steps == [(0, 0, 0, 1), (0, 0, 1, 2)]
    assert found.visits.tolist() == [[1, 1]]
    assert found.q == pytest.approx(np.array([[0.2, 0.6]]))
    assert found.value == pytest.approx([(0.5 + 0.2 + 0.6) / 3])
    # Scores 1 + 0 and 0 + (1 + 1) * 1.
    assert found.action.tolist() == [1]
    assert found.policy[0] == pytest.approx(softmax(0, 2))


def test_noise_outweighs_a_value_that_is_a_little_better() -> None:
    model = TableModel(table([0.5], [{0: (0.2, End), 1: (0.6, End)}], {}))
    found = searched(model, [0], config(2, considered=2), noise=[[2.5, 0]])
    assert found.action.tolist() == [0]  # 2.5 + 0 against 0 + 2
    assert found.policy[0] == pytest.approx(softmax(0, 2))  # which has no noise


def test_three_simulations_of_one_action_go_deeper() -> None:
    steps: list[dict[int, Step]] = [
        {0: (0.0, End), 1: (0.1, 1), 2: (0.0, End)},
        {1: (0.5, 2), 2: (0.0, End)},
        {0: (0.4, End)},
    ]
    priors = {0: (0.0, log(2), 0.0)}
    model = TableModel(table([0.2, 0.3, 0.1], steps, priors))
    found = searched(model, [0], config(3, considered=1))
    # 1: action 1 has the highest logit. Return 0.1 + 0.3.
    # 2: at node 1, actions 1 and 2 are legal and alike, so the first. Return 0.1 + 0.5
    #    + 0.1; node 1 now has (0.3 + 0.6) / 2.
    # 3: at node 1, action 1 has 0.6. Others have the mixed value: chances are 1/2 each,
    #    of which only one was taken, so (0.3 + 1 * 0.6) / 2. The improved policy is
    #    softmax(2, 0) = (0.88, 0.12), the visits' shares are 1/2 and 0, so action 1.
    #    From node 2 to the end. Return 0.1 + 0.5 + 0.4.
    assert model.steps == [(0, 0, 1, 1), (0, 1, 1, 2), (0, 2, 0, 3)]
    assert found.visits.tolist() == [[0, 3, 0]]
    assert found.value == pytest.approx([(0.2 + 0.4 + 0.7 + 1.0) / 4])
    # Node 1 is worth (0.3 + 0.6 + 0.9) / 3.
    taken, mixed = 0.1 + 0.6, (0.2 + 3 * 0.7) / 4
    assert found.q == pytest.approx(np.array([[mixed, taken, mixed]]))
    assert found.action.tolist() == [1]
    assert found.policy[0] == pytest.approx(softmax(0, log(2) + (1 + 3), 0))


def test_four_simulations_halve_three_actions_and_know_the_end_again() -> None:
    steps: list[dict[int, Step]] = [
        {0: (1.0, End), 1: (0.0, 1), 2: (-0.5, 2)},
        {0: (0.0, End)},
        {0: (0.0, End)},
    ]
    model = TableModel(table([0.0, 0.2, 0.1], steps, {}))
    found = searched(model, [0], config(4, considered=3), noise=[[0, 0.5, 0]])
    # 1: noise decides for 1. Return 0.2.
    # 2: actions 0 and 2 have no visits and are alike. Return 1.
    # 3: action 2 is left. Return -0.5 + 0.1.
    # 4: of the three with one visit, action 0 has 0 + 2 * 1, action 1 has 0.5 + 2 * 0.6
    #    / 1.4, action 2 has 0. The end is known: the model is not asked. Return 1.
    assert model.steps == [(0, 0, 1, 1), (0, 0, 0, 2), (0, 0, 2, 3)]
    assert found.visits.tolist() == [[2, 1, 1]]
    assert found.q == pytest.approx(np.array([[1.0, 0.2, -0.4]]))
    assert found.value == pytest.approx([(0 + 0.2 + 1 - 0.4 + 1) / 5])
    assert found.action.tolist() == [0]
    assert found.policy[0] == pytest.approx(softmax(3, 3 * 0.6 / 1.4, 0))


def test_only_the_actions_visited_most_are_taken() -> None:
    steps: list[dict[int, Step]] = [{0: (0.5, End), 1: (0.6, End), 2: (0.7, End)}]
    model = TableModel(table([0.9], steps, {}))
    found = searched(model, [0], config(2, considered=1), noise=[[3, 0, 0]])
    # Action 0 has 0.5, others (0.9 + 2 * 0.5) / 3 and were not considered.
    assert found.visits.tolist() == [[2, 0, 0]]
    assert found.action.tolist() == [0]
    assert found.policy[0] == pytest.approx(softmax(0, 3, 3))


def test_an_illegal_action_has_the_mixed_value_and_no_chance() -> None:
    steps: list[dict[int, Step]] = [{0: (0.2, End), 2: (0.6, End)}]
    model = TableModel(table([1.0], steps, {}))
    found = searched(model, [0], config(2, considered=3))
    mixed = (1.0 + 2 * (0.2 + 0.6) / 2) / 3
    assert found.q == pytest.approx(np.array([[0.2, mixed, 0.6]]))
    assert found.visits.tolist() == [[1, 0, 1]]
    # The mixed value is 0.6, no greater than the greatest: 0.2 and 0.6 are 0 and 1.
    low, _, high = found.policy[0].tolist()
    assert (low, 0.0, high) == pytest.approx((softmax(0, 2)[0], 0, softmax(0, 2)[1]))
    assert found.policy[0, 1] == 0


def test_inside_the_tree_the_rarely_taken_action_has_its_turn() -> None:
    steps: list[dict[int, Step]] = [{0: (0.0, 1)}, {0: (0.0, End), 1: (0.0, End)}]
    model = TableModel(table([0.0, 0.0], steps, {1: (log(3), 0.0)}))
    searched(model, [0], config(4, considered=2))
    # All is worth 0, so node 1 keeps its policy (3/4, 1/4). It takes action 0, as 3/4 >
    # 1/4; then 0 again, as 3/4 - 1/2 = 1/4 - 0 are alike and 0 is the first; then 1, as
    # 3/4 - 2/3 < 1/4.
    assert model.steps == [(0, 0, 0, 1), (0, 1, 0, 2), (0, 1, 1, 4)]
