"""The registry: strategies by name."""

from __future__ import annotations

import pytest
from named_problems import NAMED

from hybridalloc import Run, Status, UsageError
from hybridalloc.registry import STRATEGIES, get_solver


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_every_strategy_is_where_the_table_says_and_has_a_line_of_its_own(
    name: str,
) -> None:
    assert callable(get_solver(name).solve)
    line = STRATEGIES[name].description
    assert line
    assert "\n" not in line


def test_a_strategy_is_a_solver() -> None:
    outcome = get_solver("slow").solve(NAMED["a chain"], Run())
    assert outcome.status is Status.FEASIBLE


def test_a_misspelt_strategy_gets_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="'greddy'; did you mean 'greedy'"):
        get_solver("greddy")


def test_a_name_unlike_any_gets_the_list() -> None:
    with pytest.raises(UsageError, match="known: slow, replay, random, greedy"):
        get_solver("zzz")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("best", "'best' composes strategies; expected as in best"),
        ("greedy>slow", "expected the name of one strategy"),
    ],
)
def test_what_is_no_strategy_says_what_it_is(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        get_solver(text)
