"""What comes before a strategy plays: pinned buffers, and the warm start."""

from __future__ import annotations

import signal
import time

import pytest
from named_problems import CHAIN, FASTER, NAMED, PINS_THAT_DO_NOT_FIT

from hybridalloc import Run
from hybridalloc.baselines.plan import Plan
from hybridalloc.baselines.play import RandomPlay
from hybridalloc.checker import check
from hybridalloc.game import playing
from hybridalloc.game.fixing import fixed
from hybridalloc.pins import pinned
from hybridalloc.problem import Problem
from hybridalloc.solver import UNANSWERED

PINNED = NAMED["pinned buffers"]


def test_pinned_buffers_are_placed_however_late_it_is() -> None:
    late = fixed(PINNED, time.monotonic())
    placed = {x.buffer for x in late.allocations}
    assert placed == set(pinned(PINNED.program))
    assert not check(PINNED, late)


def test_ctrl_c_while_pinned_buffers_are_placed_is_handed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        Plan, "place_pinned", lambda _: signal.raise_signal(signal.SIGINT)
    )
    with pytest.raises(KeyboardInterrupt):
        fixed(PINNED)


def test_a_warm_start_is_the_answer_where_no_place_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nowhere(problem: Problem, deadline: float) -> None:
        raise ValueError

    assert RandomPlay().solve(PINS_THAT_DO_NOT_FIT, Run(iterations=1)) == UNANSWERED
    monkeypatch.setattr(playing, "fixed", nowhere)
    found = RandomPlay().solve(CHAIN, Run(iterations=1, warm_start=FASTER))
    assert found.map == FASTER
