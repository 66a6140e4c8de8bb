"""The text of a composition, read and written."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridalloc import (
    BestOf,
    Chain,
    FirstOf,
    Share,
    Solver,
    UsageError,
    Within,
    registry,
)
from hybridalloc.compose import Strategy, parse, split
from hybridalloc.compose.text import COMBINATORS

SLOW = Strategy.named("slow")
GREEDY = Strategy.named("greedy")
TUNED = Strategy.named("greedy", {"displacements": "20", "cross_programs": "0"})


def test_the_registry_keeps_the_names_of_compositions_for_them() -> None:
    assert tuple(COMBINATORS) == registry.COMBINATORS


@pytest.mark.parametrize(
    ("text", "solver"),
    [
        ("slow", SLOW),
        ("slow>greedy", Chain(SLOW, GREEDY)),
        ("slow>greedy>slow", Chain(SLOW, GREEDY, SLOW)),
        ("(slow>greedy)>slow", Chain(Chain(SLOW, GREEDY), SLOW)),
        ("slow>(greedy>slow)", Chain(SLOW, Chain(GREEDY, SLOW))),
        ("(slow)", Chain(SLOW)),
        ("best(slow,greedy)>slow", Chain(BestOf(SLOW, GREEDY), SLOW)),
        ("best(slow>greedy,slow)", BestOf(Chain(SLOW, GREEDY), SLOW)),
        ("first(slow,best(greedy))", FirstOf(SLOW, BestOf(GREEDY))),
        ("slow@5s>greedy", Chain(Within(SLOW, 5), GREEDY)),
        ("slow>greedy@0.5s", Chain(SLOW, Within(GREEDY, 0.5))),
        ("(slow>greedy)@5s", Within(Chain(SLOW, GREEDY), 5)),
        ("best(slow,greedy)@10s", Within(BestOf(SLOW, GREEDY), 10)),
        ("slow@5s@3s", Within(Within(SLOW, 5), 3)),
        ("slow@30%>greedy", Chain(Share(SLOW, 30), GREEDY)),
        ("best(slow@2.5%,greedy)@45%", Share(BestOf(Share(SLOW, 2.5), GREEDY), 45)),
        ("(slow>greedy)@30%@5s", Within(Share(Chain(SLOW, GREEDY), 30), 5)),
        ("greedy(displacements=20,cross_programs=0)", TUNED),
    ],
)
def test_a_text_stands_for_a_solver_which_prints_as_the_text(
    text: str, solver: Solver
) -> None:
    assert parse(text) == solver
    assert str(solver) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (" best ( slow , greedy ) > slow ", "best(slow,greedy)>slow"),
        ("slow @ 500ms", "slow@0.5s"),
        ("slow@2min", "slow@120s"),
        ("slow@1e-3s", "slow@0.001s"),
        ("slow@.5s", "slow@0.5s"),
        ("slow @ 30.0 %", "slow@30%"),
        ("greedy( cross_programs=0, displacements = 020 )", str(TUNED)),
        ('greedy(displacements="20",cross_programs=0)', str(TUNED)),
    ],
)
def test_a_text_may_be_written_in_several_ways(text: str, written: str) -> None:
    assert str(parse(text)) == written


def composed(kind: Callable[..., Solver], members: list[Solver]) -> Solver:
    """A composition of these."""
    return kind(*members)


def several(part: st.SearchStrategy[Solver]) -> st.SearchStrategy[Solver]:
    """Compositions of what is drawn."""
    members = st.lists(part, min_size=1, max_size=3)
    kinds = st.sampled_from([FirstOf, BestOf, Chain])
    return st.one_of(
        st.builds(composed, kinds, members),
        st.builds(Within, part, st.floats(0, 1e300)),
        st.builds(Share, part, st.floats(0, 100)),
    )


SOLVERS = st.recursive(st.sampled_from([SLOW, GREEDY, TUNED]), several, max_leaves=8)


@given(SOLVERS)
def test_every_composition_is_read_back_from_its_text(solver: Solver) -> None:
    assert parse(str(solver)) == solver


@given(st.text(alphabet='slow,greedy()@>5s%= "x\n', max_size=30))
def test_any_other_text_is_refused(text: str) -> None:
    try:
        solver = parse(text)
    except UsageError:
        return
    assert parse(str(solver)) == solver


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"character 1: expected the name of a strategy, or '\(', found the end"),
        ("slow>", "character 6: expected the name of a strategy"),
        (">slow", "character 1: expected the name of a strategy.* found '>slow'"),
        ("best", r"character 5: expected '\(' after 'best'"),
        ("best()", "character 6: expected the name of a strategy"),
        ("best(slow", r"character 10: expected ',', '>', '@' or '\)', found the end"),
        ("(slow", r"character 6: expected '>', '@' or '\)'"),
        ("slow)", r"character 5: expected '>', '@' or the end, found '\)'"),
        ("slow greedy", "character 6: expected '>', '@' or the end, found 'greedy'"),
        ("slow,greedy", "character 5: expected '>', '@' or the end"),
        ("slow@", "character 6: expected a time such as 5s"),
        ("slow@-5s", "character 6: expected a time such as 5s"),
        ("slow@5", r"character 7: expected a unit of time \(ms, s, min, %\)"),
        ("slow@5h", "character 7: expected a unit of time"),
        ("slow@1e999s", "inf s: expected a finite number"),
        ("slow@101%", "character 10: 101.0 % of the time: expected 0 to 100"),
        ("(" * 100, "expected no more than 50 parentheses within each other"),
        ("gredy", "^unknown strategy 'gredy'; did you mean 'greedy'"),
        ("best(slow,gredy)", "character 11: unknown strategy 'gredy'; did you mean"),
        ("bset(slow,greedy)", "character 1: unknown strategy 'bset'; did you.* 'best'"),
        ("greedy()", r"character 8: expected an option, name=value, found '\)'"),
        ("greedy(slow)", "character 12: expected '=' and a value after option 'slow'"),
        (
            "agent-hybrid(heuristics=msa,area)",
            r"after option 'area' \(parts of one value are joined with '\+'\), found",
        ),
        ("greedy(displacements=)", "character 22: expected a value of option"),
        ("greedy(displacements=1", r"character 23: expected ',' or '\)'"),
        ("greedy(displacements=1,displacements=2)", "'displacements' once only"),
        ("slow(displacements=1)", "character 1: strategy 'slow' has no options"),
    ],
)
def test_an_error_says_where_it_is_and_what_was_expected(
    text: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        parse(text)


def test_a_list_is_split_at_commas_outside_parentheses() -> None:
    listed = "slow, best(slow,greedy)@5s>slow ,greedy(displacements=1,cross_programs=2)"
    assert split(listed) == (
        "slow",
        "best(slow,greedy)@5s>slow",
        "greedy(displacements=1,cross_programs=2)",
    )


@pytest.mark.parametrize("listed", ["", "slow,", ",slow", "slow,,greedy", "slow;slow"])
def test_a_list_with_a_gap_is_refused(listed: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        split(listed)
