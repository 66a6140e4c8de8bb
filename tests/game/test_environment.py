"""The game as a Gymnasium environment."""

from __future__ import annotations

import copy
import os
import pickle
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from game_cases import COPY, DROP, NO_EVICTIONS, STAY
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv
from named_problems import NAMED, OUT, W, X, problem, reads, target, writes
from small_problems import Sizes, small_problem

from hybridalloc.checker import check
from hybridalloc.errors import UsageError
from hybridalloc.game import GameConfig
from hybridalloc.game.environment import ID, MallocGame
from hybridalloc.game.fixing import fixed
from hybridalloc.game.observation import ObservationConfig
from hybridalloc.pins import free
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer, Memory
from hybridalloc.simulator import Simulator

FINE = ObservationConfig(past=2, future=3, rows=4, tokens=2)
HIDDEN = problem((W, OUT), (), (reads(0), writes(1)), compute={0: 30.0, 1: 13.0})
"""A weight behind a long computation: 30 s, and 16 s in slow memory, or at least 13."""
CROWDED = problem(
    tuple(Buffer(x, 8, is_input=True, memory=Memory.FAST) for x in ("one", "other")),
    (reads(0), reads(1)),
    machine=target(8),
)
"""Of two pinned buffers there is room for one."""
SOME = (HIDDEN, NAMED["a donated buffer"], NAMED["a loop over weights"])


def playable() -> Iterator[Problem]:
    """Small drawn problems, some with pinned buffers; not those that do not fit."""
    for seed in range(60):
        drawn = small_problem(seed, Sizes(buffers=9, instructions=24, loops=5))
        if free(drawn):
            with suppress(ValueError):
                fixed(drawn)
                yield drawn


def episode(
    game: MallocGame, seed: int
) -> tuple[float, list[int], dict[str, Any], Problem]:
    """Random legal play: the sum of the rewards, the actions, the last information."""
    random = np.random.default_rng(seed)
    _, info = game.reset(seed=seed)
    program, ended, total = info["program"], False, 0.0
    actions: list[int] = []
    while not ended:
        action = int(random.choice(np.flatnonzero(info["action_mask"])))
        _, reward, ended, truncated, info = game.step(action)
        assert not truncated
        total += reward
        actions.append(action)
    return total, actions, info, game.problems[program]


@pytest.mark.parametrize("reward", ["time", "benefit"])
@pytest.mark.parametrize("heuristics", ["", "msa+relaxation"])
def test_gymnasium_finds_nothing_wrong_with_it(
    reward: str, heuristics: str, bundled: Path
) -> None:
    paths = [bundled / "mixer_block_b128", bundled / "lstm_lm_b64_s128"]
    made = gymnasium.make(ID, problems=paths, reward=reward, heuristics=heuristics)
    for _ in range(3):
        check_env(made.unwrapped)


def printed(code: str) -> str:
    """What a fresh interpreter prints."""
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


def test_importing_the_package_or_the_game_does_not_load_gymnasium() -> None:
    code = "import hybridalloc.game, sys; print('gymnasium' in sys.modules)"
    assert printed(code) == "False\n"


def test_naming_the_module_is_enough_to_make_one() -> None:
    code = (
        "import gymnasium\n"
        "from named_problems import NAMED\n"
        "name = 'hybridalloc.game.environment:hybridalloc/MallocGame-v0'\n"
        "print(gymnasium.make(name, problems=[NAMED['a chain']]).action_space)\n"
    )
    assert printed(code) == "Discrete(3)\n"


def test_rewards_sum_up_to_the_share_of_the_time_that_is_saved() -> None:
    game = MallocGame(list(playable()), GameConfig(waits=True), FINE)
    for seed in range(100):
        total, _, info, played = episode(game, seed)
        simulator, map_ = Simulator(played), game.position.memory_map()
        assert check(played, map_) == ()
        assert info["time_s"] == pytest.approx(simulator.simulate(map_).time_s)
        if slow_s := simulator.slow_s:
            saved_s = game.position.game.first.time_s - info["time_s"]
            assert total == pytest.approx(saved_s / slow_s, abs=1e-9)


def test_pinned_buffers_are_placed_before_the_game_begins() -> None:
    """W is in fast memory whatever is played, and is not asked for."""
    pinned = replace(HIDDEN.program.buffers[0], memory=Memory.FAST)
    program = replace(HIDDEN.program, buffers=(pinned, HIDDEN.program.buffers[1]))
    game = MallocGame([replace(HIDDEN, program=program)], observation=FINE)
    game.reset()
    _, _, ended, _, info = game.step(DROP)
    assert ended
    assert info["time_s"] == 30 + 13
    assert [x.buffer for x in game.position.memory_map().allocations] == [0]


def test_a_benefit_is_what_an_access_saves_by_itself() -> None:
    """With its neighbour in slow memory, each saves 3 of 46 s."""
    game = MallocGame([HIDDEN], observation=FINE, reward="benefit")
    game.reset()
    assert game.step(COPY)[1] == pytest.approx(3 / 46)
    assert game.step(STAY)[1] == pytest.approx(3 / 46)
    game.reset()
    assert [game.step(DROP)[1] for _ in range(2)] == [0, 0]


def test_what_drop_backup_undoes_has_no_benefit() -> None:
    """X and then y are written to fast memory, where only one of them may stay."""
    game, saved = MallocGame([NO_EVICTIONS], observation=FINE, reward="benefit"), 0.0
    for seed in range(20):
        total, actions, *_ = episode(game, seed)
        taken = np.array(game.position.taken)
        benefits = np.array([6, 4, 6, 6, 6])[taken != DROP]
        assert total == pytest.approx(benefits.sum() / 40)
        saved += len(actions) > 5
    assert saved, "there was no Drop-backup"


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_copy_plays_by_itself(copied: Callable[[MallocGame], MallocGame]) -> None:
    game = MallocGame([HIDDEN], observation=FINE)
    game.reset()
    other = copied(game)
    other.step(COPY)
    assert (game.position.taken, other.position.taken) == ((), (COPY,))
    for one in (game, other):
        alone = MallocGame([HIDDEN], observation=FINE)
        alone.reset()
        for action in one.position.taken:
            alone.step(action)
        (seen, *rest), (expected, *others) = one.step(STAY), alone.step(STAY)
        assert str(rest) == str(others)
        assert all(np.array_equal(x, expected[name]) for name, x in seen.items())


def test_the_same_seed_plays_the_same_programs() -> None:
    drawn = []
    for _ in range(2):
        game = MallocGame(SOME, observation=FINE)
        seeds = [7, *[None] * 9]
        drawn.append([game.reset(seed=x)[1]["program"] for x in seeds])
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) == {0, 1, 2}


def test_a_program_may_be_chosen() -> None:
    game = MallocGame(SOME, observation=FINE)
    for program in (2, 0):
        assert game.reset(options={"program": program})[1]["program"] == program
        assert game.position.game.game.problem is SOME[program]
    with pytest.raises(ValueError, match=r"program 3 is not in \[0, 3\)"):
        game.reset(options={"program": 3})


def test_the_nearest_legal_action_replaces_one_that_is_not() -> None:
    """NoCopy of a weight that is nowhere yet, and then Copy of a whole write."""
    game = MallocGame([HIDDEN], observation=FINE)
    assert game.reset()[1]["action_mask"].tolist() == [0, 1, 1]
    _, _, _, _, info = game.step(STAY)
    assert (info["action"], info["action_mask"].tolist()) == (COPY, [1, 0, 1])
    assert game.step(COPY)[4]["action"] == STAY
    assert game.position.taken == (COPY, STAY)


def test_an_illegal_action_may_be_an_error_instead() -> None:
    game = MallocGame([HIDDEN], observation=FINE, illegal="raise")
    game.reset()
    with pytest.raises(
        ValueError, match=r"action 0 is not legal \(expected one of: COPY"
    ):
        game.step(STAY)


@pytest.mark.parametrize("illegal", ["raise", "replace"])
def test_what_is_no_action_or_comes_after_the_end_is_refused(illegal: str) -> None:
    game = MallocGame([HIDDEN], observation=FINE, illegal=illegal)
    game.reset()
    for action in (-1, 3):
        with pytest.raises(ValueError, match=f"action {action} is not legal"):
            game.step(action)
    episode(game, 0)
    with pytest.raises(ValueError, match="expected one of: none"):
        game.step(DROP)


def test_masks_are_those_of_the_game() -> None:
    game = MallocGame(SOME, observation=FINE)
    _, info = game.reset(seed=0)
    ended = False
    while not ended:
        masks = game.action_masks()
        assert masks.dtype == np.bool_
        assert info["action_mask"].dtype == np.int8
        assert masks.tolist() == info["action_mask"].astype(bool).tolist()
        assert masks.tolist() == game.position.mask().tolist()
        _, _, ended, _, info = game.step(int(masks.argmax()))
    assert not game.action_masks().any()


def test_heuristics_are_further_actions() -> None:
    """Belady's copies the weight, and what stays in slow memory drops it."""
    game = MallocGame([HIDDEN], observation=FINE, heuristics="belady+slow")
    assert game.action_space == gymnasium.spaces.Discrete(3 + 2 * 2)
    assert game.reset()[1]["action_mask"].tolist() == [0, 1, 1, 1, 1, 1, 1]
    assert "followed" not in game.step(DROP)[4]
    for action, name, taken in [
        (3, "FOLLOW belady", (COPY,)),
        (4, "FOLLOW slow", (DROP,)),
        (5, "FOLLOW belady until next", (COPY, DROP)),
        (6, "FOLLOW slow until next", (DROP, DROP)),
    ]:
        game.reset()
        _, _, ended, _, info = game.step(action)
        assert (info["action"], info["followed"]) == (action, name)
        assert game.position.taken == taken
        assert ended == (len(taken) == 2)


def test_rewards_sum_up_where_heuristics_are_followed() -> None:
    game = MallocGame(SOME, GameConfig(waits=True), FINE, heuristics="msa+belady")
    for seed in range(20):
        total, _, info, played = episode(game, seed)
        simulator, map_ = Simulator(played), game.position.memory_map()
        assert check(played, map_) == ()
        assert info["time_s"] == pytest.approx(simulator.simulate(map_).time_s)
        saved_s = game.position.game.first.time_s - info["time_s"]
        assert total == pytest.approx(saved_s / simulator.slow_s, abs=1e-9)


def test_what_is_nearest_to_the_heuristic_replaces_what_may_not_be_followed() -> None:
    """After Drop, the weight is nowhere that Belady's could keep it."""
    twice = problem((W,), (), (reads(0),), (reads(0),), compute={0: 30.0, 1: 30.0})
    game = MallocGame([twice], observation=FINE, heuristics="belady")
    game.reset()
    assert game.step(DROP)[4]["action_mask"].tolist() == [0, 1, 1, 0, 0]
    _, _, ended, _, info = game.step(4)
    assert (info["action"], ended) == (COPY, True)
    assert "followed" not in info


def test_what_is_no_heuristic_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown strategy 'mza'"):
        MallocGame([HIDDEN], observation=FINE, heuristics="msa+mza")


@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
def test_several_play_at_a_time(kind: type[VectorEnv[Any, Any, Any]]) -> None:
    """In as many processes, too; each draws its programs by a seed of its own."""
    make = [lambda: MallocGame(SOME, observation=FINE)] * 3
    games, ends = kind(make), 0  # type: ignore[call-arg]
    alone = [MallocGame(SOME, observation=FINE) for _ in range(3)]
    try:
        seen, info = games.reset(seed=5)
        for i, game in enumerate(alone):
            own, _ = game.reset(seed=5 + i)
            for name, array in own.items():
                assert np.array_equal(seen[name][i], array)
        for _ in range(20):
            actions = info["action_mask"].argmax(axis=1)
            seen, _, ended, _, info = games.step(actions)
            ends += int(ended.sum())
            assert info.get("_time_s", ended).tolist() == ended.tolist()
        assert ends > 3
    finally:
        games.close()


def test_gymnasium_s_own_maker_makes_several() -> None:
    games = gymnasium.make_vec(ID, 2, problems=SOME, observation=FINE)
    assert games.reset(seed=0)[0]["tokens"].shape == (2, 2, 27)
    games.close()


def test_the_variant_of_the_game_is_an_argument() -> None:
    """Without idle time before it, the weight can only be waited for."""
    at_once = problem((W, X), (writes(1),), *[(reads(0),)] * 9)
    masks = []
    for waits in (False, True):
        game = MallocGame([at_once], GameConfig(waits=waits), FINE)
        game.reset()
        masks.append(game.step(DROP)[4]["action_mask"].tolist())
    assert masks == [[0, 0, 1], [0, 1, 1]]


@pytest.mark.parametrize(
    ("problems", "options", "message"),
    [
        ([], {}, "expected at least one, got none"),
        (iter([]), {}, "expected at least one, got none"),
        ("a path", {}, "expected a list of them, got a str"),
        (HIDDEN, {}, "expected a list of them, got a Problem"),
        ([NAMED["nothing to do"], problem((W,), ())], {}, "nothing to decide on"),
        ([CROWDED], {}, "no place was found for a pinned buffer"),
        (SOME, {"reward": "speed"}, "'speed' is not a valid RewardKind"),
        (SOME, {"illegal": "ignore"}, "'ignore' is not a valid Illegal"),
    ],
)
def test_what_cannot_be_played_is_refused(
    problems: list[Problem], options: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        MallocGame(problems, observation=FINE, **options)  # type: ignore[arg-type]


def test_an_ordinary_library_learns_to_play(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sb3_contrib")
    script = root / "examples" / "train_masked_ppo.py"
    runpy.run_path(str(script), run_name="__main__")
    one, other = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"mixer_block_b128: -?[0-9.]+% of .*", one)
    assert re.fullmatch(r"lstm_lm_b64_s128: -?[0-9.]+% of .*", other)
