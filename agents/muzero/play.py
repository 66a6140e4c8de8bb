"""Play: games side by side, so that the network sees many positions at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from hybridalloc.agents.muzero.deciding import Decider, Decision
from hybridalloc.agents.muzero.observing import Observations, Observing
from hybridalloc.agents.muzero.prior import votes_at
from hybridalloc.agents.muzero.programs import Entry
from hybridalloc.agents.muzero.trajectory import Trajectory, alike
from hybridalloc.game.fast import Position


def play(
    entries: Sequence[Entry],
    indices: Iterable[int],
    decider: Decider,
    observing: Observing,
    *,
    temperature: float,
) -> list[Trajectory]:
    """Play one game of each of these programs, and record them.

    Args:
        entries: The programs.
        indices: Which of them; one may be played several times.
        decider: Decides in all games at once.
        observing: Of the sizes that the decider's network is for.
        temperature: Of all decisions.

    Returns:
        The trajectories, in the order of the indices.
    """
    seats = [_Seat(i, entries[i]) for i in indices]
    while playing := [seat for seat in seats if not seat.position.is_terminal]:
        positions = [seat.position for seat in playing]
        seen = observing.observe(positions)
        heat = np.full(len(positions), temperature)
        decision = decider.decide(positions, seen, heat)
        for row, seat in enumerate(playing):
            seat.take(row, decision, seen)
    return [seat.trajectory() for seat in seats]


@dataclass
class _Seat:
    """A game that is being played, and what was seen and done in it."""

    index: int
    entry: Entry
    position: Position = field(init=False)
    rows: list[tuple[int, int, float, np.ndarray, np.ndarray, float]] = field(
        default_factory=list
    )
    """Step, action, reward, mask, policy and value of each turn."""
    seen: list[tuple[np.ndarray, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.position = self.entry.game.begin()

    def take(self, row: int, decision: Decision, seen: Observations) -> None:
        """Play what was decided, and note it."""
        action, mask = int(decision.actions[row]), self.position.mask()
        self.seen.append(tuple(x[row].astype(np.float16) for x in seen))
        step = self.position.step
        reward = self.position.apply(action) / self.entry.scale_s
        value = float(decision.values[row])
        self.rows.append((step, action, reward, mask, decision.policies[row], value))

    def trajectory(self) -> Trajectory:
        """All of it, once the game has ended."""
        game = self.entry.game
        steps, taken, rewards, each, policies, values = zip(*self.rows, strict=True)
        actions, masks = np.array(taken, np.int8), np.array(each, np.bool_)
        return Trajectory(
            entry=self.index,
            actions=actions,
            rewards=np.array(rewards, np.float32),
            masks=masks,
            alike=alike(game, steps, actions, self.position.line),
            votes=votes_at([game] * len(steps), steps, masks),
            policies=np.array(policies, np.float32),
            values=np.array(values, np.float32),
            observations=Observations(*map(np.stack, zip(*self.seen, strict=True))),
            time_s=self.position.time_s,
            is_demonstration=False,
        )
