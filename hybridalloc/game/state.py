"""A position of the game, and the moves from it: pure, and by the book.

The fast twin (``hybridalloc.game.fast``) is for speed; this is what it must equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from hybridalloc.game import moves
from hybridalloc.game.action import INSTEAD, Action
from hybridalloc.game.advice import Option
from hybridalloc.game.game import Game
from hybridalloc.game.growth import NONE
from hybridalloc.game.held import NOTHING_HELD, Holding
from hybridalloc.memory_map import MemoryMap

Choices = tuple[Action | Option, ...]


@dataclass(frozen=True, eq=False)
class State:
    """Every access before a step is decided, no other one is."""

    game: Game
    time_s: float
    """Seconds that the program takes, undecided accesses served from slow memory."""
    step: int = 0
    """The next one to decide on."""
    holding: Holding = NOTHING_HELD
    rewards: tuple[float, ...] = ()
    """Seconds saved by each decision so far; by a Drop-backup, as a rule, less than
    none."""
    action: Action | None = None
    """The decision that led here."""
    before: State | None = None
    """Where it was taken."""
    forced: frozenset[int] = frozenset()
    """The steps at which Drop-backup has forced Drop: nothing else is legal there."""
    stuck: int = NONE
    """The buffer for which nothing is legal here, at the end of the program."""

    @classmethod
    def begin(cls, game: Game) -> State:
        """The first position of a game."""
        return cls(game, game.simulate(game.fixed).time_s, holding=Holding(game.fixed))

    @property
    def is_terminal(self) -> bool:
        """Whether all is decided."""
        return self.step == len(self.game.steps)

    @property
    def legal_actions(self) -> tuple[Action, ...]:
        """Those that may be taken, in their order."""
        return () if self.is_terminal else tuple(self.after)

    @property
    def legal_options(self) -> tuple[Option, ...]:
        """The heuristics that may be followed: those that begin with a legal action."""
        advice, legal = self.game.advice, self.legal_actions
        if self.is_terminal or not advice.may_be_followed:
            return ()
        return tuple(
            x for x in advice.options if advice.lines[x.heuristic, self.step] in legal
        )

    @property
    def returns(self) -> float:
        """All rewards so far, in seconds."""
        return sum(self.rewards)

    def memory_map(self) -> MemoryMap:
        """The map so far; valid where the game has ended."""
        return self.game.memory_map(self.holding.held)

    def apply(self, action: Action | Option) -> State:
        """Decide on the next access, or on several as a heuristic would.

        If nothing is legal after that, every step since the latest decision on the
        buffer in question where Drop was legal is undone, and it is dropped there.

        Raises:
            ValueError: The action is not legal.
        """
        legal: Choices = (*self.legal_actions, *self.legal_options)
        if action not in legal:
            name_of = self.game.advice.name_of
            expected = ", ".join(map(name_of, legal)) or "none"
            raise ValueError(
                f"step {self.step}: action {name_of(action)} is not legal (expected "
                f"one of: {expected})"
            )
        if isinstance(action, Option):
            *_, (_, reached) = self.following(action)
            return reached
        state = self._decided(action)
        while (buffer := state._stuck_buffer()) != NONE:
            state = state._backed_up(buffer)
        return state

    def following(self, option: Option) -> Iterator[tuple[Action, State]]:
        """The decisions that a legal option comes to, each with where it leads.

        Where what the heuristic would do is not legal, the first of ``INSTEAD`` is
        taken.
        """
        line, state = self.game.advice.lines[option.heuristic], self
        end = self.game.until[self.step] if option.until_next else self.step + 1
        while state.step < end:
            wishes = INSTEAD[line[state.step]]
            legal = state.legal_actions
            action = Action(next(x for x in wishes if x in legal))
            state = state.apply(action)
            yield action, state

    def _decided(self, action: Action) -> State:
        """The position after an action."""
        holding, stuck = self.after[action], NONE
        step = self.step + 1
        if step == len(self.game.steps):
            holding, stuck = moves.close(self.game, holding)
        time_s = self.game.simulate(holding.held).time_s
        rewards = (*self.rewards, self.time_s - time_s)
        return State(
            self.game,
            time_s,
            step,
            holding,
            rewards,
            action,
            before=self,
            forced=self.forced,
            stuck=stuck,
        )

    def _stuck_buffer(self) -> int:
        """The buffer for which nothing is legal, or ``NONE``."""
        if self.is_terminal or self.after:
            return self.stuck
        return self.game.steps[self.step].buffer

    def _backed_up(self, buffer: int) -> State:
        """Drop-backup."""
        child, state = self, self.before
        while state is not None:
            decided = self.game.steps[state.step].buffer
            was_dropped = child.action is Action.DROP
            if decided == buffer and not was_dropped and Action.DROP in state.after:
                dropped = state._decided(Action.DROP)
                rewards = (*self.rewards, self.time_s - dropped.time_s)
                forced = self.forced | {state.step}
                return replace(dropped, rewards=rewards, forced=forced)
            child, state = state, state.before
        raise AssertionError(f"buffer {buffer}: never could it be dropped")

    @cached_property
    def after(self) -> dict[Action, Holding]:
        """What is held after each legal action."""
        after = moves.after(self.game, self.holding, self.game.steps[self.step])
        if self.step in self.forced and Action.DROP in after:
            return {Action.DROP: after[Action.DROP]}
        return after
