"""``random-play`` and ``greedy-play``, and the script that measures the game."""

from __future__ import annotations

import re
import runpy
import shutil
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from game_cases import (
    COPY,
    DROP,
    LOOP_AND_CHAIN,
    NO_EVICTIONS,
    STAY,
    advised,
    game_of,
)
from named_problems import (
    CHAIN,
    FASTEST,
    NAMED,
    SLOW,
    W,
    problem,
    reads,
)
from small_problems import small_problem

from hybridalloc import Allocation, MemoryMap, Problem, Run, solve
from hybridalloc.baselines.play import (
    GreedyPlay,
    GreedyPlayConfig,
    RandomPlay,
    RandomPlayConfig,
)
from hybridalloc.baselines.play.greedy_play import PREFERRED, GreedyPlayer
from hybridalloc.baselines.play.random_play import RandomPlayer
from hybridalloc.compose import Strategy, as_solver
from hybridalloc.errors import UsageError
from hybridalloc.game import (
    Action,
    Game,
    GameConfig,
    Option,
    State,
    advice,
    heuristics,
)
from hybridalloc.game.copying import TOLERANCE
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.heuristics import USUAL
from hybridalloc.game.rewards import RewardKind, benefits, score_of
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import Origin
from hybridalloc.problem import CostModel
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Solver

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench_game.py"
FOLLOWERS = [
    RandomPlay(RandomPlayConfig(heuristics="+".join(USUAL))),
    GreedyPlay(GreedyPlayConfig(heuristics="+".join(USUAL))),
]
PLAYERS = [
    RandomPlay(),
    GreedyPlay(),
    GreedyPlay(GreedyPlayConfig(RewardKind.BENEFIT)),
    *FOLLOWERS,
]


def greedy_end(game: FastGame, kind: RewardKind = RewardKind.TIME) -> Position:
    """The end of an episode that is all greedy."""
    player, position = GreedyPlayer(game, score_of(kind, game.game)), game.begin()
    while not position.is_terminal:
        position = player.advance(position)
    return position


def pure_greedy_end(game: Game) -> State:
    """The same in the pure game, in the plainest way."""
    state = State.begin(game)
    while not state.is_terminal:
        best, most = None, -np.inf
        legal = [x for x in PREFERRED if x in state.legal_actions]
        choices: list[Action | Option] = [*legal, *state.legal_options]
        for action in choices:
            after = state.apply(action)
            if state.time_s - after.time_s > most + TOLERANCE:
                best, most = after, state.time_s - after.time_s
        assert best is not None
        state = best
    return state


def reported(solver: Solver, given: Problem, run: Run) -> list[MemoryMap]:
    """The maps that a player reports, in their order."""
    maps: list[MemoryMap] = []
    solver.solve(given, replace(run, report=maps.append))
    return maps


@pytest.mark.parametrize("name", ["a chain", "an update in place", "more than fits"])
def test_greedy_play_takes_what_saves_most_at_each_step(name: str) -> None:
    game = Game(NAMED[name])
    end, expected = greedy_end(FastGame(game)), pure_greedy_end(game)
    assert end.memory_map() == expected.memory_map()
    assert end.time_s == pytest.approx(expected.time_s, rel=1e-12)


@pytest.mark.parametrize("name", ["a chain", "an update in place", "more than fits"])
@pytest.mark.parametrize("seed", range(4))
def test_greedy_play_follows_what_saves_most_in_all_its_steps(
    name: str, seed: int
) -> None:
    game = advised(Game(NAMED[name]), seed)
    end, expected = greedy_end(FastGame(game)), pure_greedy_end(game)
    assert end.memory_map() == expected.memory_map()
    assert end.time_s == pytest.approx(expected.time_s, rel=1e-12)


def test_random_play_takes_every_action_and_option_that_is_legal() -> None:
    game = Game(LOOP_AND_CHAIN)
    lines = [("never", [COPY] * 6), ("eager", [STAY] * 6)]
    fast = FastGame(game.advised(advice(lines, 6)))
    player = RandomPlayer(np.random.default_rng(0))
    reached = Counter(player.advance(fast.begin()).taken for _ in range(400))
    assert reached == {
        (STAY,): pytest.approx(200, abs=40),  # by itself, or followed for one access
        (STAY, COPY): pytest.approx(100, abs=40),
        (DROP,): pytest.approx(100, abs=40),
    }


@pytest.mark.parametrize("player", FOLLOWERS)
@pytest.mark.parametrize("name", NAMED)
def test_heuristics_may_be_followed_in_any_program(name: str, player: Solver) -> None:
    runs = [solve(NAMED[name], player, iterations=3, seed=1) for _ in range(2)]
    assert runs[0].map == runs[1].map


@pytest.mark.parametrize("player", FOLLOWERS)
def test_heuristics_take_a_part_of_the_time_and_none_that_has_passed(
    player: Solver, bundled: Path
) -> None:
    given = read_problem(bundled / "dcgan_train_b128")
    begin = time.monotonic()
    assert reported(player, given, Run(deadline=begin)) == [SLOW]
    assert len(reported(player, given, Run(deadline=begin + 3))) > 1
    assert time.monotonic() - begin < 9


@pytest.mark.parametrize("name", ["random-play", "greedy-play"])
def test_without_any_answer_the_plain_game_is_played(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heuristics, "ASKING_SHARE", 0.0)
    given, asked = NAMED["more than fits"], "greedy+belady+relaxation"
    run = Run(iterations=20, seed=3, deadline=time.monotonic() + 60)
    found = [
        as_solver(text).solve(given, run).map
        for text in (name, f"{name}(heuristics={asked})")
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", [RandomPlayConfig, GreedyPlayConfig])
def test_what_is_no_heuristic_is_refused(
    kind: type[RandomPlayConfig | GreedyPlayConfig],
) -> None:
    with pytest.raises(UsageError, match="unknown strategy 'mza'"):
        kind(heuristics="mza")
    with pytest.raises(ValueError, match="'msa' is there twice"):
        kind(heuristics="msa+msa")


def test_heuristics_are_named_in_the_text_of_a_strategy() -> None:
    made = as_solver("greedy-play(heuristics=msa+relaxation,waits=true)")
    expected = GreedyPlayConfig(waits=True, heuristics="msa+relaxation")
    assert isinstance(made, Strategy)
    assert isinstance(made.solver, GreedyPlay)
    assert made.solver.config == expected


def test_what_earns_nothing_is_not_copied() -> None:
    """Instruction 0 computes for longer than it reads w, and hides the copy of w."""
    game = FastGame(Game(problem((W,), (reads(0),), (reads(0),), compute={0: 20.0})))
    assert greedy_end(game).taken == (DROP, COPY)
    assert greedy_end(game, RewardKind.BENEFIT).taken == (DROP, COPY)


def test_a_benefit_is_what_an_access_saves_by_itself_in_all_its_runs() -> None:
    """Of 8 bytes 8 s against 2 s, of which computing leaves nothing; a loop of 4."""
    in_loop = [4 * 6.0, 4 * 6.0, 4 * 6.0]
    seconds = benefits(Game(LOOP_AND_CHAIN))
    assert seconds.tolist() == [0.0, *in_loop, 6.0, 6.0]


@pytest.mark.parametrize("seed", range(20))
def test_benefits_count_where_fast_memory_serves_whatever_was_undone(seed: int) -> None:
    given = NO_EVICTIONS if seed == 0 else small_problem(seed)
    game = game_of(given)
    position = FastGame(game).begin()
    position.play_randomly(np.random.default_rng(seed), 10**6)
    earned = zip(benefits(game).tolist(), position.taken, strict=True)
    expected = sum(seconds for seconds, action in earned if action is not DROP)
    assert score_of(RewardKind.BENEFIT, game)(position) == pytest.approx(expected)


def test_what_is_undone_at_once_earns_what_is_done_instead() -> None:
    """The output, written last, can never be evicted: it is dropped after all."""
    game = FastGame(Game(NO_EVICTIONS))
    score, position = score_of(RewardKind.BENEFIT, game.game), game.begin()
    while position.step + 1 < len(game.game.steps):
        position.apply(DROP)
    position.apply(STAY)
    assert position.taken[-1] == DROP
    assert score(position) == 0.0


@pytest.mark.parametrize("player", PLAYERS)
def test_each_report_is_better_than_the_one_before(player: Solver) -> None:
    given = NAMED["more than fits"]
    maps = reported(player, given, Run(iterations=30, seed=5))
    times = [Simulator(given).simulate(x).time_s for x in maps]
    assert maps[0] == SLOW
    assert len(times) > 1
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == len(times)


@pytest.mark.parametrize("player", PLAYERS)
def test_more_episodes_find_no_worse_maps(player: Solver) -> None:
    given = NAMED["more than fits"]
    times = [solve(given, player, iterations=x, seed=2).time for x in (1, 5, 25)]
    assert times == sorted(times, key=lambda x: -(x or 0))


@pytest.mark.parametrize("player", PLAYERS)
def test_a_warm_start_is_reported_and_kept_if_nothing_is_better(player: Solver) -> None:
    run = Run(iterations=0, warm_start=FASTEST)
    assert reported(player, CHAIN, run) == [SLOW, FASTEST]
    assert player.solve(CHAIN, run).map == FASTEST


def test_a_warm_start_is_played_back_first() -> None:
    """It waits 8 s for w, and takes 30 s; in the game the copy hides: 22 s."""
    given = problem((W,), (), (reads(0),), compute={0: 20.0})
    late = MemoryMap((Allocation(0, 0, 1, 2, Origin.PREFETCHED, 1),))
    seconds = Simulator(given).simulate(late).time_s
    result = RandomPlay().solve(given, Run(iterations=0, warm_start=late)).map
    assert result is not None
    assert seconds == 30.0
    assert Simulator(given).simulate(result).time_s == 22.0


@pytest.mark.parametrize("player", PLAYERS)
def test_play_ends_when_a_bound_is_met(player: Solver) -> None:
    """Nothing takes longer than 48 s: the first episode will do."""
    assert len(reported(player, CHAIN, Run(bound=48.0))) <= 2


def test_without_draws_greedy_play_is_one_episode() -> None:
    player = GreedyPlay(GreedyPlayConfig(draws=0))
    result = solve(NAMED["more than fits"], player, time_limit=60)
    assert result.runtime < 30
    once = solve(NAMED["more than fits"], GreedyPlay(), iterations=1)
    assert result.map == once.map


def test_the_variants_of_the_game_are_options() -> None:
    """A weight that the first instruction reads has to be waited for."""
    given = problem((W,), (reads(0),), (reads(0),), (reads(0),))
    given = replace(given, target=replace(given.target, cross_program_prefetches=0))
    times = [
        solve(given, RandomPlay(RandomPlayConfig(waits=waits)), iterations=50).time
        for waits in (False, True)
    ]
    waited = [
        greedy_end(FastGame(Game(given, GameConfig(waits=x)))).time_s
        for x in (False, True)
    ]
    assert times[1] is not None
    assert times[0] is not None
    assert times[1] < times[0] <= 24.0
    assert waited[1] <= waited[0]


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    """What the script defines."""
    return runpy.run_path(str(SCRIPT))


def test_the_speed_of_the_game_is_printed_for_each_program(
    script: dict[str, Any], bundled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script["main"]([bundled / "mixer_block_b128"], seconds=0.05)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "times are simulated: roofline, tpu-v4i"
    assert lines[-1].split()[:3] == ["mixer_block_b128", "42", "65"]


@pytest.mark.parametrize("strategy", ["input", "greedy"])
def test_maps_are_played_back_under_each_variant(
    script: dict[str, Any],
    bundled: Path,
    capsys: pytest.CaptureFixture[str],
    strategy: str,
) -> None:
    folder = bundled / "mixer_block_b128"
    script["main"]([folder], playback=strategy, time_limit=5)
    name, mean, largest = capsys.readouterr().out.splitlines()[-3:]
    assert name.split()[0] == "mixer_block_b128"
    assert mean.startswith("geometric mean (1) ")
    assert largest.split()[1:] == name.split()[1:] == mean.split()[3:]


def test_rewards_are_correlated_with_the_time_saved_under_both_models(
    script: dict[str, Any], bundled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script["main"]([bundled / "mixer_block_b128"], rewards=5)
    lines = capsys.readouterr().out.splitlines()
    rows = [tuple(re.split("  +", line)[:3]) for line in lines[3:]]
    for player in ("random", "greedy", "both"):
        assert (player, "benefit, roofline", "time, roofline") in rows
        assert (player, "time, roofline", "time, cycles") in rows


def test_programs_without_estimates_are_left_out_under_cycles(
    script: dict[str, Any], bundled: Path, tmp_path: Path
) -> None:
    with_them, without = bundled / "mixer_block_b128", tmp_path / "without"
    shutil.copytree(with_them, without, ignore=shutil.ignore_patterns("cycles.csv*"))
    for model, left in (("roofline", 2), ("cycles", 1)):
        found = script["read"]([with_them, without], CostModel(model))
        assert list(found) == ["mixer_block_b128", "without"][:left]
        assert all(x.cost_model == model for x in found.values())
