"""The game as a Gymnasium environment: ``hybridalloc/MallocGame-v0``.

Importing this module registers it::

    import gymnasium
    import hybridalloc.game.environment

    gymnasium.make("hybridalloc/MallocGame-v0", problems=["examples/workloads/..."])
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hybridalloc.game.action import INSTEAD
from hybridalloc.game.config import GameConfig
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.fixing import fixed
from hybridalloc.game.game import THE_PAPERS, Game
from hybridalloc.game.heuristics import consult, names_in
from hybridalloc.game.observation import ObservationConfig, Observer
from hybridalloc.game.observation.foresight import share_per_second
from hybridalloc.game.observation.observer import THE_USUAL, shapes
from hybridalloc.game.rewards import RewardKind, score_of
from hybridalloc.io.read import read_problem
from hybridalloc.problem import Problem
from hybridalloc.solver import Run

ID = "hybridalloc/MallocGame-v0"
Observed = dict[str, NDArray[np.float32]]


class Illegal(StrEnum):
    """What becomes of an action that is not legal."""

    REPLACED = "replace"
    """The nearest that is legal is taken: ``INSTEAD`` has their order. For an option,
    what is nearest to its heuristic's action."""
    REFUSED = "raise"
    """It is an error, as in the game itself."""


class MallocGame(gymnasium.Env[Observed, int]):
    """mallocGame on one or several programs; an episode plays one of them.

    Rewards are shares of the program's time with everything in slow memory: under
    ``reward="time"`` those of an episode sum up to the share that its map saves.
    ``info["action_mask"]`` tells which actions are legal, and at the end of an episode
    ``info["time_s"]`` what the program takes; ``info["action"]`` is the one that was
    taken, and ``info["followed"]`` the option in words, if it is one.

    With H heuristics there are 3 + 2 H actions: to follow each for one access, and to
    follow each until the buffer is to be decided on again.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (Gymnasium's)

    def __init__(
        self,
        problems: Sequence[Problem | Path | str],
        config: GameConfig = THE_PAPERS,
        observation: ObservationConfig = THE_USUAL,
        reward: RewardKind | str = RewardKind.TIME,
        illegal: Illegal | str = Illegal.REPLACED,
        heuristics: str = "",
    ) -> None:
        """Read the programs, and ask the heuristics about each.

        Args:
            problems: At least one; or their paths.
            config: The variant of the game.
            observation: How finely positions are observed.
            reward: What a step is rewarded for.
            illegal: What becomes of an action that is not legal.
            heuristics: What may be followed, as ``names_in`` reads it.

        Raises:
            ValueError: There is no list of problems, or nothing to decide on in one;
                or no place has been found for its pinned buffers; or a heuristic is
                named twice.
            InputError: A path cannot be read as a problem.
            UsageError: There is no such heuristic.
        """
        kind, self.illegal = RewardKind(reward), Illegal(illegal)
        self.heuristics = names_in(heuristics)
        """What may be followed."""
        self.problems = _read(problems)
        """What is played."""
        games = [self._advised(Game(x, config, fixed(x))) for x in self.problems]
        self._boards = [_Board(x, observation, kind) for x in games]
        sizes = shapes(observation)._asdict()
        boxes = [(name, spaces.Box(-1.0, 1.0, x)) for name, x in sizes.items()]
        self.observation_space = cast(Any, spaces.Dict(boxes))
        self.action_space = cast(Any, spaces.Discrete(self._boards[0].game.actions))
        self._board, self._position = self._boards[0], self._boards[0].game.begin()

    @property
    def position(self) -> Position:
        """The position of the game."""
        return self._position

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Decides, from now on, which programs are played.
            options: ``{"program": i}`` plays the problem of that index instead of one
                that is drawn.

        Returns:
            The observation; and ``action_mask`` and the index of the ``program``.

        Raises:
            ValueError: There is no such program.
        """
        super().reset(seed=seed)
        count = len(self._boards)
        program = (options or {}).get("program")
        if program is None:
            program = int(self.np_random.integers(count))
        if not 0 <= program < count:
            raise ValueError(f"program {program} is not in [0, {count})")
        self._board = self._boards[program]
        self._position = self._board.game.begin()
        return self._seen(), {"action_mask": self._mask(), "program": program}

    def step(self, action: int) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Decide on one access, or on several as a heuristic would.

        Returns:
            The observation, the reward, whether the episode has ended, false, and
            ``action_mask``, ``action`` and, if that is an option, ``followed``.

        Raises:
            ValueError: The episode has ended, or the action does not exist or, under
                ``illegal="raise"``, is not legal.
        """
        board, taken = self._board, self._allowed(int(action))
        before_s = board.score(self._position)
        self._position.apply(taken)
        reward = (board.score(self._position) - before_s) * board.per_second
        info: dict[str, Any] = {"action_mask": self._mask(), "action": taken}
        if (option := board.advice.option_of(taken)) is not None:
            info["followed"] = board.advice.name_of(option)
        ended = self._position.is_terminal
        if ended:
            info["time_s"] = self._position.time_s
        return self._seen(), reward, ended, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """(actions,): whether each is legal, as sb3-contrib asks for it."""
        return self._position.mask()

    def _advised(self, game: Game) -> Game:
        """The game with what the heuristics say of it, which takes their time."""
        return game.advised(consult(game, self.heuristics, (), Run()))

    def _allowed(self, action: int) -> int:
        """The action, or the one that replaces it."""
        mask = self._position.mask()
        is_known = mask.any() and 0 <= action < mask.size
        if self.illegal is Illegal.REFUSED or not is_known or mask[action]:
            return action
        advice, wish = self._board.advice, action
        if (option := advice.option_of(action)) is not None:
            wish = int(advice.lines[option.heuristic, self._position.step])
        return int(next(x for x in INSTEAD[wish] if mask[x]))

    def _mask(self) -> NDArray[np.int8]:
        return self._position.mask().astype(np.int8)

    def _seen(self) -> Observed:
        return self._board.observer.observe(self._position)._asdict()


class _Board:
    """A game, and what it takes to play it here."""

    def __init__(
        self, game: Game, observation: ObservationConfig, reward: RewardKind
    ) -> None:
        if not game.steps:
            raise ValueError(
                f"program {game.problem.program.name}: there is nothing to decide on, "
                f"no buffer may be in fast memory"
            )
        self.game, self.advice = FastGame(game), game.advice
        self.observer = Observer(self.game, observation)
        self.score = score_of(reward, game)
        self.per_second = share_per_second(game)


def _read(problems: Sequence[Problem | Path | str]) -> tuple[Problem, ...]:
    """The problems, read where they are paths; there is at least one."""
    if isinstance(problems, Problem | Path | str):  # a text is a sequence, too
        one = type(problems).__name__
        raise ValueError(f"problems: expected a list of them, got a {one}")
    read = tuple(x if isinstance(x, Problem) else read_problem(x) for x in problems)
    if not read:
        raise ValueError("problems: expected at least one, got none")
    return read


if ID not in gymnasium.registry:
    gymnasium.register(ID, entry_point=f"{__name__}:{MallocGame.__name__}")
