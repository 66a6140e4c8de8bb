"""The strategy ``greedy-play``: at each step the action that earns most at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from random import Random

from hybridalloc.baselines.play.episodes import best_episode
from hybridalloc.game import Action, GameConfig
from hybridalloc.game.copying import TOLERANCE
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.heuristics import names_in
from hybridalloc.game.rewards import RewardKind, Score, score_of
from hybridalloc.problem import Problem
from hybridalloc.ranges import require_within
from hybridalloc.solver import Outcome, Run

PREFERRED = (Action.NO_COPY, Action.DROP, Action.COPY)
"""Of actions that earn the same, the first of these is taken."""


@dataclass(frozen=True, slots=True)
class GreedyPlayConfig:
    """The variant of the game, and what is greedy in it."""

    reward: RewardKind = RewardKind.TIME
    """What an action earns: the simulated time that it saves, or the benefit of its
    access in fast memory, the paper's proxy."""
    draws: float = 4.0
    """How many decisions are left to chance on average, in all episodes but the
    first; fewer where heuristics are followed for many steps."""
    waits: bool = False
    """Whether a copy that cannot be in time may be waited for."""
    shifts: bool = False
    """Whether stays decided earlier may be shifted in fast memory to make room."""
    heuristics: str = ""
    """Strategies that may be followed, and ``relaxation``, as in
    ``msa+greedy+belady+relaxation``."""

    def __post_init__(self) -> None:
        require_within("draws", self.draws, 0)
        names_in(self.heuristics)


class GreedyPlay:
    """Tries each legal action, and takes the one that earns most by itself.

    Where heuristics may be followed, each is tried until the buffer is to be decided on
    again; for one access it does what an action does. The first episode is all greedy;
    in others some actions are drawn, so that they differ. An iteration is one episode.
    One worker plays.
    """

    def __init__(self, config: GreedyPlayConfig | None = None) -> None:
        self.config = config or GreedyPlayConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Play; the seed decides what is drawn."""
        given = self.config
        config = GameConfig(given.waits, given.shifts)

        def players(game: FastGame) -> Iterator[GreedyPlayer]:
            score = score_of(given.reward, game.game)
            first = GreedyPlayer(game, score)
            if given.draws == 0:
                return iter([first])
            others = GreedyPlayer(game, score, given.draws, Random(run.seed))
            return chain([first], repeat(others))

        return best_episode(problem, config, given.heuristics, run, players)


class GreedyPlayer:
    """Takes the action that earns most, or at times any."""

    def __init__(
        self,
        game: FastGame,
        score: Score,
        draws: float = 0.0,
        random: Random | None = None,
    ) -> None:
        """Prepare to play.

        Args:
            game: Which.
            score: What is to be large after each.
            draws: How many of an episode's decisions are drawn, on average.
            random: Draws them.
        """
        options = enumerate(game.game.advice.options, start=len(Action))
        self._order = (*PREFERRED, *(i for i, x in options if x.until_next))
        self._trials = {action: game.begin() for action in self._order}
        self._score, self._share = score, draws / max(1, len(game.game.steps))
        self._random = random or Random(0)

    def advance(self, position: Position) -> Position:
        """Make one decision."""
        mask = position.mask()
        legal = [action for action in self._order if mask[action]]
        if len(legal) > 1 and self._random.random() < self._share:
            legal = [self._random.choice(legal)]
        if len(legal) == 1:
            position.apply(legal[0])
            return position
        action = self._best(position, legal)
        after, self._trials[action] = self._trials[action], position
        return after

    def _best(self, position: Position, legal: list[int]) -> int:
        """Of these actions the one that earns most; all of them are tried."""
        best, most = legal[0], float("-inf")
        for action in legal:
            after = self._trials[action]
            position.copy_to(after)
            after.apply(action)
            earned_s = self._score(after)
            if earned_s > most + TOLERANCE:
                best, most = action, earned_s
        return best
