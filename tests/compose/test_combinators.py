"""Compositions of solvers: who runs, with what, and what comes of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from named_problems import CHAIN, FASTER, FASTEST, SLOW
from strategies import problems

from hybridalloc import (
    BestOf,
    Chain,
    FirstOf,
    MemoryMap,
    Outcome,
    Problem,
    Run,
    Share,
    Solver,
    Status,
    StrategyError,
    UsageError,
    Within,
    solve,
)
from hybridalloc.compose import Strategy
from hybridalloc.compose.combinators import allotted, timed
from hybridalloc.solver import UNANSWERED, Infeasibility, Result

EXPIRED = Run(deadline=time.monotonic() - 1)


@dataclass
class Stub:
    """Reports maps, then raises or hands back an outcome; remembers its runs."""

    outcome: Outcome | type[BaseException]
    reports: tuple[MemoryMap, ...] = ()
    runs: list[Run] = field(default_factory=list)

    def solve(self, problem: Problem, run: Run) -> Outcome:
        self.runs.append(run)
        for memory_map in self.reports:
            run.report(memory_map)
        if isinstance(self.outcome, Outcome):
            return self.outcome
        raise self.outcome

    @property
    def starts(self) -> list[MemoryMap | None]:
        """The warm start of each run."""
        return [run.warm_start for run in self.runs]


class Other(Stub):
    """One of another name."""


def finds(memory_map: MemoryMap) -> Stub:
    return Stub(Outcome(memory_map))


def credits(result: Result) -> list[tuple[float, str]]:
    return [(incumbent.time, incumbent.found_by) for incumbent in result.history]


def test_the_first_solver_with_a_map_answers() -> None:
    unasked = finds(FASTEST)
    solver = FirstOf(Stub(UNANSWERED), finds(FASTER), unasked)
    assert solver.solve(CHAIN, Run()) == Outcome(FASTER)
    assert unasked.runs == []


def test_what_the_first_solver_reported_before_its_time_ran_out_is_an_answer() -> None:
    unasked = finds(FASTEST)
    solver = FirstOf(Stub(TimeoutError, (FASTER,)), unasked)
    assert solver.solve(CHAIN, Run()) == Outcome(FASTER)
    assert unasked.runs == []


def test_the_best_map_of_all_is_kept() -> None:
    solver = BestOf(finds(FASTER), finds(FASTEST), finds(SLOW))
    assert solver.solve(CHAIN, Run()) == Outcome(FASTEST)


def test_a_member_is_judged_by_its_best_report_too() -> None:
    solver = BestOf(Stub(Outcome(SLOW), (FASTEST, FASTER)), finds(FASTER))
    assert solver.solve(CHAIN, Run()) == Outcome(FASTEST)


def test_each_of_a_chain_starts_from_the_best_map_so_far() -> None:
    members = [finds(x) for x in (FASTER, SLOW, FASTEST, SLOW)]
    assert Chain(*members).solve(CHAIN, Run()) == Outcome(FASTEST)
    starts = [member.starts for member in members]
    assert starts == [[None], [FASTER], [FASTER], [FASTEST]]


def test_a_chain_keeps_its_warm_start_where_nothing_better_is_found() -> None:
    member = Stub(UNANSWERED)
    assert Chain(member).solve(CHAIN, Run(warm_start=FASTER)) == Outcome(FASTER)
    assert member.starts == [FASTER]


@pytest.mark.parametrize("combinator", [FirstOf, BestOf])
def test_all_members_of_others_start_from_the_warm_start(
    combinator: type[FirstOf] | type[BestOf],
) -> None:
    members = Stub(UNANSWERED), finds(FASTER)
    combinator(*members).solve(CHAIN, Run(warm_start=SLOW))
    assert [member.starts for member in members] == [[SLOW], [SLOW]]


@pytest.mark.parametrize("combinator", [FirstOf, BestOf, Chain])
def test_members_get_the_limits_and_the_seed_of_the_whole(
    combinator: Callable[..., Solver],
) -> None:
    members = Stub(UNANSWERED), Stub(UNANSWERED)
    run = Run(iterations=3, seed=5, workers=2)
    assert combinator(*members).solve(CHAIN, run) == UNANSWERED
    for member in members:
        (given,) = member.runs
        assert (given.iterations, given.seed, given.workers) == (3, 5, 2)
        assert given.deadline == math.inf


@pytest.mark.parametrize("combinator", [BestOf, Chain])
def test_a_member_that_runs_out_of_time_does_not_end_the_search(
    combinator: Callable[..., Solver],
) -> None:
    solver = combinator(Stub(TimeoutError, (FASTER,)), Stub(TimeoutError), finds(SLOW))
    assert solver.solve(CHAIN, Run()) == Outcome(FASTER)


@pytest.mark.parametrize("combinator", [BestOf, Chain])
def test_after_the_deadline_no_more_is_asked_once_there_is_a_map(
    combinator: Callable[..., Solver],
) -> None:
    unasked = finds(FASTEST)
    solver = combinator(Stub(UNANSWERED), finds(FASTER), unasked)
    assert solver.solve(CHAIN, EXPIRED) == Outcome(FASTER)
    assert unasked.runs == []


def test_the_next_of_the_first_is_asked_even_after_the_deadline() -> None:
    solver = FirstOf(Stub(TimeoutError), finds(FASTER))
    assert solver.solve(CHAIN, EXPIRED) == Outcome(FASTER)


@pytest.mark.parametrize("combinator", [FirstOf, BestOf, Chain])
@pytest.mark.parametrize(
    "proof",
    [
        Outcome(FASTEST, Status.OPTIMAL),
        Outcome(None, Status.INFEASIBLE, infeasibility=Infeasibility(1, 8, ("x", "y"))),
    ],
)
def test_a_proof_ends_the_search_and_is_passed_on(
    combinator: Callable[..., Solver], proof: Outcome
) -> None:
    unasked = finds(SLOW)
    solver = combinator(Stub(UNANSWERED), Stub(proof), unasked)
    assert solver.solve(CHAIN, Run()) == proof
    assert unasked.runs == []


@pytest.mark.parametrize("combinator", [BestOf, Chain])
def test_the_largest_bound_is_kept(combinator: Callable[..., Solver]) -> None:
    solver = combinator(
        Stub(Outcome(None, Status.UNKNOWN, bound=20.0)),
        Stub(Outcome(FASTEST, bound=12.0)),
        Stub(Outcome(SLOW)),
    )
    assert solver.solve(CHAIN, Run()) == Outcome(FASTEST, bound=20.0)


def test_bounds_without_a_map_are_kept() -> None:
    bounds = (Stub(Outcome(None, Status.UNKNOWN, bound=x)) for x in (1.0, 3.0, 2.0))
    outcome = FirstOf(*bounds).solve(CHAIN, Run())
    assert outcome == Outcome(None, Status.UNKNOWN, bound=3.0)


def test_a_false_proof_is_still_found_out_within_a_composition() -> None:
    infeasible = Stub(Outcome(None, Status.INFEASIBLE))
    with pytest.raises(StrategyError, match="calls infeasible what has a valid map"):
        solve(CHAIN, Chain(finds(SLOW), infeasible))
    optimal = Stub(Outcome(SLOW, Status.OPTIMAL))
    with pytest.raises(StrategyError, match=r"48\.0 s optimal, yet one of 36\.0 s"):
        solve(CHAIN, BestOf(finds(FASTER), optimal))


@pytest.mark.parametrize("text", ["best(replay,greedy)", "first(greedy,slow)>replay"])
def test_a_member_that_does_not_apply_is_an_error_of_the_whole(text: str) -> None:
    with pytest.raises(UsageError, match="strategy replay: program named does not"):
        solve(CHAIN, text)


def test_ctrl_c_ends_the_whole_and_keeps_the_best_map() -> None:
    unasked = finds(FASTEST)
    interrupted = Stub(KeyboardInterrupt, (FASTER,))
    result = solve(CHAIN, Chain(finds(SLOW), interrupted, unasked))
    assert (result.map, unasked.runs) == (FASTER, [])


def test_history_names_the_component_that_found_each_map() -> None:
    inner = BestOf(Other(Outcome(FASTEST), (FASTER,)), finds(SLOW))
    result = solve(CHAIN, Chain(Within("slow", 5), inner, "greedy"))
    assert result.strategy == "slow@5s>best(Other,Stub)>greedy"
    first, second, third, last = credits(result)
    assert first == (48.0, "slow")
    assert (second, third) == ((36.0, "Other"), (24.0, "Other"))
    assert last[1] == "greedy"


def test_after_a_composition_of_its_own_a_strategy_is_credited_again() -> None:
    class Delegates:
        def solve(self, problem: Problem, run: Run) -> Outcome:
            run.report(SLOW)
            Chain(finds(FASTER)).solve(problem, run)
            return Outcome(FASTEST)

    found = credits(solve(CHAIN, Delegates()))
    assert [name for _, name in found] == ["Delegates", "Stub", "Delegates"]


def test_history_names_a_strategy_without_its_time_limit() -> None:
    result = solve(CHAIN, " greedy@5s ", iterations=1)
    assert result.strategy == "greedy@5s"
    assert {incumbent.found_by for incumbent in result.history} == {"greedy"}


def test_a_map_that_is_worse_than_the_best_so_far_is_not_reported_on() -> None:
    seen: list[MemoryMap] = []
    members = finds(FASTER), Stub(Outcome(FASTEST), (SLOW, FASTEST))
    BestOf(*members).solve(CHAIN, Run(report=seen.append))
    assert seen == [FASTER, FASTEST]


def test_a_solver_with_a_time_of_its_own_has_the_earlier_deadline() -> None:
    member = finds(SLOW)
    now = time.monotonic()
    Within(member, 5).solve(CHAIN, Run())
    Within(member, 1000).solve(CHAIN, Run(deadline=now + 100))
    first, second = (run.deadline for run in member.runs)
    assert now + 5 <= first <= time.monotonic() + 5
    assert second == now + 100


def test_a_solver_has_a_share_of_the_time_that_is_left_when_it_begins() -> None:
    """30 % of 100 s; then, as nothing was used, 50 % of the same."""
    members = [finds(SLOW) for _ in range(3)]
    now = time.monotonic()
    solver = Chain(Share(members[0], 30), Share(members[1], 50), members[2])
    solver.solve(CHAIN, Run(deadline=now + 100))
    deadlines = [member.runs[0].deadline - now for member in members]
    assert deadlines == pytest.approx([30, 50, 100], abs=5)


def test_a_share_of_time_without_end_is_no_limit() -> None:
    members = [finds(SLOW) for _ in range(2)]
    BestOf(Share(members[0], 0), Share(members[1], 30)).solve(CHAIN, Run(iterations=3))
    assert [member.runs[0].deadline for member in members] == [math.inf, math.inf]


def test_in_the_best_of_several_shares_are_of_the_time_of_the_whole() -> None:
    """Of 100 s, 20 and 30; the other may take what these leave."""
    members = [Stub(UNANSWERED) for _ in range(3)]
    now = time.monotonic()
    BestOf(members[0], Share(members[1], 20), Share(members[2], 30)).solve(
        CHAIN, Run(deadline=now + 100)
    )
    deadlines = [member.runs[0].deadline - now for member in members]
    assert deadlines == pytest.approx([50, 20, 30], abs=5)


def test_what_one_with_a_share_finds_is_its_own() -> None:
    result = solve(CHAIN, Chain(Share(finds(FASTER), 30), Other(Outcome(FASTEST))))
    assert credits(result) == [(36, "Stub"), (24, "Other")]
    result = solve(CHAIN, Share(finds(FASTER), 30), iterations=1)
    assert credits(result) == [(36, "Stub")]


@pytest.mark.parametrize("percent", [-1.0, 100.5, math.inf, math.nan])
def test_a_share_that_is_none_is_refused(percent: float) -> None:
    with pytest.raises(ValueError, match="% of the time: expected 0 to 100"):
        Share("slow", percent)


def test_shares_become_times_where_time_ends() -> None:
    solvers = BestOf("slow", Share("greedy", 25), Within("random", 5)).solvers
    assert list(map(str, timed(60.0, solvers))) == ["slow", "greedy@15s", "random@5s"]
    assert timed(math.inf, solvers) == solvers


def test_the_best_of_several_share_the_time() -> None:
    """Of 60 s, 30 are put aside, and the others take 15 each; then 60 / 2 and 60."""
    members = [Stub(UNANSWERED) for _ in range(3)]
    now = time.monotonic()
    BestOf(members[0], Within(members[1], 30), members[2]).solve(
        CHAIN, Run(deadline=now + 60)
    )
    deadlines = [member.runs[0].deadline - now for member in members]
    assert deadlines == pytest.approx([20, 30, 60], abs=5)


@pytest.mark.parametrize(
    ("members", "remaining_s", "seconds"),
    [
        (("slow", "slow", "slow"), 60.0, 20.0),  # 60 / 3
        (("slow", Within("slow", 5)), 60.0, 55.0),  # 60 - 5
        (("slow", Within("slow", 50), "slow"), 60.0, 20.0),  # (60 - 60 / 3) / 2
        ((Within("slow", 5), "slow"), 60.0, 5.0),
        ((Within("slow", 50), "slow"), 10.0, 10.0),
        (("slow", Within("slow", 5)), math.inf, math.inf),
        (("slow", "slow"), 0.0, 0.0),
    ],
)
def test_a_share_of_the_time_that_is_left(
    members: tuple[Solver | str, ...], remaining_s: float, seconds: float
) -> None:
    assert allotted(remaining_s, BestOf(*members).solvers) == seconds


@pytest.mark.parametrize("combinator", [FirstOf, BestOf, Chain])
def test_a_composition_of_nothing_is_refused(combinator: type[Chain]) -> None:
    with pytest.raises(ValueError, match=f"{combinator.__name__}: expected at least"):
        combinator()


@pytest.mark.parametrize("seconds", [-1.0, math.inf, math.nan])
def test_a_time_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="expected a finite number >= 0"):
        Within("slow", seconds)


def test_a_member_that_is_no_solver_is_refused() -> None:
    with pytest.raises(UsageError, match="3: expected a name or a solver object"):
        Chain("slow", 3)  # type: ignore[arg-type]


def test_names_stand_for_the_strategies_of_the_registry() -> None:
    chain = Chain("slow", "best(slow,greedy)")
    assert chain.solvers[0] == Strategy.named("slow")
    assert chain.solvers[1] == BestOf("slow", "greedy")


@settings(max_examples=40)
@given(
    problems(),
    st.lists(st.sampled_from(["slow", "random", "greedy"]), min_size=1, max_size=3),
    st.integers(0, 3),
)
def test_a_chain_and_the_best_of_several_are_never_worse_than_their_parts(
    problem: Problem, names: list[str], seed: int
) -> None:
    """These strategies ignore the warm start, so each finds what it does alone."""

    def seconds(solver: Solver | str) -> float:
        found = solve(problem, solver, iterations=1, seed=seed).time
        return math.inf if found is None else found

    least = min(map(seconds, names))
    assert seconds(Chain(*names)) == seconds(BestOf(*names)) == least
