"""The strategy ``lp``: what it finds, proves and keeps."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from named_problems import CHAIN, FASTEST, NAMED, W, reads, temporaries, writes
from named_problems import problem as problem_of

from hybridalloc import MemoryMap, Problem, Run, Status, solve
from hybridalloc.checker import check
from hybridalloc.cpsat_models.rounding import Lp, LpConfig
from hybridalloc.simulator import Simulator
from hybridalloc.solver import UNANSWERED


def test_the_fastest_map_of_a_chain_is_found_and_proven() -> None:
    result = solve(CHAIN, "lp", iterations=1)
    assert result.status is Status.OPTIMAL
    assert result.time == solve(CHAIN, "brute-force", iterations=10**6).time


def test_a_bound_of_its_own_comes_with_the_map() -> None:
    for problem in NAMED.values():
        result = solve(problem, "lp", iterations=2)
        assert result.time is not None
        assert result.bound is not None
        assert 0 <= result.bound <= result.time


def test_without_iterations_the_warm_start_comes_back() -> None:
    run = Run(iterations=0, warm_start=FASTEST)
    assert Lp().solve(CHAIN, run).map == FASTEST


def test_without_time_for_the_relaxation_the_warm_start_comes_back() -> None:
    run = Run(deadline=time.monotonic(), warm_start=FASTEST)
    assert Lp().solve(CHAIN, run).map == FASTEST


def test_where_no_map_is_made_and_none_is_given_greedy_finds_one() -> None:
    config = LpConfig(maps=0)
    outcome = Lp(config).solve(CHAIN, Run(deadline=time.monotonic() + 60))
    assert outcome.map is not None
    assert Simulator(CHAIN).simulate(outcome.map).time_s < Simulator(CHAIN).slow_s


def test_ctrl_c_comes_through_after_what_was_found_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hybridalloc.cpsat_models.rounding.maps.settle", interrupt)
    found: list[MemoryMap] = []
    problem = crowded()
    with pytest.raises(KeyboardInterrupt):
        Lp().solve(problem, Run(iterations=1, report=found.append))
    assert found == [MemoryMap()]


def crowded() -> Problem:
    """Six buffers of 8 bytes that are live at once, in 32 bytes of fast memory."""
    buffers = (W, *temporaries(5))
    made = [(writes(i), reads(0)) for i in range(1, 6)]
    used = [(reads(i), reads(0)) for i in range(1, 6)]
    return problem_of(buffers, *made, *used)


def test_what_does_not_fit_at_once_is_shared_out_as_well_as_can_be() -> None:
    problem = crowded()
    result = solve(problem, "lp", iterations=4)
    assert result.map is not None
    assert check(problem, result.map) == ()
    assert result.time == 52  # the exact model proves that nothing is faster


def test_one_seed_gives_one_map() -> None:
    answers = [solve(crowded(), "lp", iterations=6, seed=3).map for _ in range(2)]
    assert answers[0] == answers[1]


def test_pins_without_a_place_leave_no_answer() -> None:
    problem = NAMED["pinned buffers"].with_capacity(12)
    assert Lp().solve(problem, Run(iterations=1)) == UNANSWERED


def test_a_config_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="repairs 0 is not in"):
        replace(LpConfig(), repairs=0)
