"""Training: games are played, learned from and judged, again and again.

All chance comes from generators that belong to the seed, the purpose and a counter, so
there is nothing of theirs to keep: a training that goes on from a checkpoint does what
one would have done that was never cut short.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from hybridalloc.agents.muzero.checkpoint import save_network
from hybridalloc.agents.muzero.curriculum import Curriculum
from hybridalloc.agents.muzero.deciding import PolicyDecider
from hybridalloc.agents.muzero.demonstrations import demonstrations
from hybridalloc.agents.muzero.learner import Learner
from hybridalloc.agents.muzero.metrics import Metrics
from hybridalloc.agents.muzero.players import Hurried, Players
from hybridalloc.agents.muzero.progress import Phase, Progress
from hybridalloc.agents.muzero.reanalysis import reanalysed
from hybridalloc.agents.muzero.refining import refined
from hybridalloc.agents.muzero.replay import Replay
from hybridalloc.agents.muzero.run import Run, Say
from hybridalloc.agents.muzero.run_folder import read_checkpoint, write_checkpoint
from hybridalloc.agents.muzero.sources import Limit, Purpose, Source
from hybridalloc.agents.muzero.trajectory import Trajectory, load
from hybridalloc.agents.muzero.validation import speed_up
from hybridalloc.errors import InputError
from hybridalloc.interruption import STAND_INS, is_interrupt, postponed


class Training:
    """A run, at some point of its training."""

    def __init__(self, run: Run, say: Say) -> None:
        """Go on from the run's checkpoint, or begin.

        Args:
            run: What is trained on, and how.
            say: Is told what is being done.

        Raises:
            InputError: The checkpoint or a file that it names is damaged.
            KeyboardInterrupt: Ctrl-C; nothing is lost that was not begun.
        """
        self.run, self.say, config = run, say, run.config
        network = run.network()
        self.learner = Learner(network, config.learner, config.loss)
        self.players = Players(network, (*run.entries, *run.held_out), config)
        self.replay = Replay(config.replay, config.learner.unroll)
        lengths = [len(x.game.game.steps) for x in run.entries]
        self.curriculum = Curriculum(lengths, config.curriculum)
        self.progress = Progress()
        self._began = time.monotonic()
        if run.folder.checkpoint.exists():
            self._restore()
        else:
            self._demonstrate()
        self._metrics = Metrics(run.folder, self.progress.iteration)

    def random(self, purpose: Purpose, count: int) -> np.random.Generator:
        """The chance of one purpose, and of the count of what it is for."""
        return np.random.default_rng([self.run.seed, purpose, count])

    def train(self, limit: Limit, source: Source) -> None:
        """Train until a limit or Ctrl-C, and save all.

        Args:
            limit: When to end.
            source: Where games come from.
        """
        self.save(source)
        try:
            while not (limit.expired or self._is_at(limit)):
                self._advance(limit, source)
        except (KeyboardInterrupt, TimeoutError, *STAND_INS) as error:
            if isinstance(error, STAND_INS) and not is_interrupt(error):
                raise
        with postponed():
            self.save(source)
            self._metrics.close()

    def _advance(self, limit: Limit, source: Source) -> None:
        """Do what the present phase is for."""
        match self.progress.phase:
            case Phase.PLAY:
                self._play(limit, source)
            case Phase.LEARN:
                self._learn(limit)
            case Phase.JUDGE:
                self._judge(limit, source)

    def _is_at(self, limit: Limit) -> bool:
        """Whether all steps are taken, and what follows the last one is done too."""
        progress = self.progress
        is_due = limit.steps is not None and progress.step >= limit.steps
        return is_due and progress.phase is not Phase.JUDGE

    def _play(self, limit: Limit, source: Source) -> None:
        """Play, search older games again, and keep all that."""
        progress, config = self.progress, self.run.config
        games: Sequence[Trajectory] = ()
        renewed: dict[int, Trajectory] = {}
        better: Sequence[Trajectory] = ()
        if not (self._has_demonstrations and progress.step < config.imitation_steps):
            self._tell("playing")
            games = source.games(self, lambda: limit.expired)
            self._tell("searching again")
            renewed = self._renewed(limit)
            self._tell("varying the best games")
            better = self._refined(limit)
        with postponed():
            for key, trajectory in renewed.items():
                self.replay.renew(key, progress.iteration, trajectory)
                trajectory.save(self.run.folder.trajectory(key, progress.iteration))
            for trajectory in (*games, *better):
                self._keep(trajectory)
            self._note(games)
            progress.phase = Phase.LEARN
            self.save(source)

    @property
    def _has_demonstrations(self) -> bool:
        return any(x.trajectory.is_demonstration for x in self.replay)

    def _renewed(self, limit: Limit) -> dict[int, Trajectory]:
        """The stalest games by key, with new policies and values."""
        random = self.random(Purpose.RENEW, self.progress.iteration)
        decider = Hurried(self.players.explorer(random), lambda: limit.expired)
        stale = self.replay.stalest(self.run.config.reanalysed)
        return {
            x.key: reanalysed(
                x.trajectory,
                self.run.entries[x.trajectory.entry],
                decider,
                self.players.observing,
                self.run.config.temperature,
            )
            for x in stale
        }

    def _refined(self, limit: Limit) -> list[Trajectory]:
        """Better games than the best ones so far, of programs that are played."""
        config, run = self.run.config, self.run
        random = self.random(Purpose.VARY, self.progress.iteration)
        policy = PolicyDecider(self.learner.network, random)
        decider = Hurried(policy, lambda: limit.expired)
        found = []
        for index, games in Counter(self.curriculum.choose(random)).items():
            if (best := self.replay.best(index)) is not None:
                better = refined(
                    *(best, run.entries[index], games * config.varied),
                    *(decider, self.players.observing, random),
                )
                found += [better] if better is not None else []
        return found

    def _keep(self, trajectory: Trajectory) -> None:
        """Put a trajectory into the buffer and the folder."""
        progress = self.progress
        key, version = progress.keys, progress.iteration
        self.replay.add(key, version, trajectory)
        trajectory.save(self.run.folder.trajectory(key, version))
        progress.keys += 1

    def _note(self, games: Sequence[Trajectory]) -> None:
        """Count games, and tell the curriculum of them."""
        for game in games:
            self.progress.games += 1
            self.progress.decisions += len(game)
            best = self.replay.best_return(game.entry)
            self.curriculum.note(game.entry, float(game.returns[0]), best)
        if games:
            self.progress.earned = float(np.mean([x.returns[0] for x in games]))
            self.curriculum.admit()

    def _learn(self, limit: Limit) -> None:
        """Take the steps of an iteration that are left."""
        progress, config = self.progress, self.run.config
        self._tell("learning")
        while progress.done < config.steps:
            if limit.expired or self._is_at(limit):
                return
            with postponed():
                random = self.random(Purpose.LEARN, progress.step)
                batch = self.replay.sample(config.learner.batch, random)
                losses, errors = self.learner.step(batch, progress.step)
                self.replay.update(batch, errors)
                progress.note(losses)
        progress.phase = Phase.JUDGE

    def _judge(self, limit: Limit, source: Source) -> None:
        """Validate if it is time for that; write metrics, and end the iteration."""
        progress, run = self.progress, self.run
        found = None
        if (progress.iteration + 1) % run.config.validate_every == 0:
            self._tell("validating")
            decider = Hurried(self.players.judge(), lambda: limit.expired)
            programs = run.held_out or run.entries
            found = speed_up(
                programs, run.config.validated, decider, self.players.observing
            )
        with postponed():
            if found is not None and found > progress.best:
                progress.best = found
                save_network(self.learner.network, run.folder.best)
            self._metrics.write(self._row(found))
            progress.begin_iteration()
            self.save(source)

    def _row(self, found: float | None) -> dict[str, Any]:
        """What is told of an iteration."""
        progress, config = self.progress, self.run.config
        return {
            "iteration": progress.iteration,
            "step": progress.step,
            "games": progress.games,
            "decisions": progress.decisions,
            "programs": len(self.curriculum.admitted),
            "rate": config.learner.rate_at(progress.step),
            **progress.means(),
            "earned": progress.earned,
            "best_known": self.best_known,
            "speed_up": found,
            "seconds": self.seconds,
        }

    @property
    def best_known(self) -> float | None:
        """The mean of the best returns of all programs that were played or shown."""
        every = range(len(self.run.entries))
        known = [self.replay.best_return(x) for x in every if self.replay.best(x)]
        return float(np.mean(known)) if known else None

    @property
    def seconds(self) -> float:
        """Of training so far, in all sittings."""
        return self.progress.seconds + time.monotonic() - self._began

    def save(self, source: Source) -> None:
        """Write all that training goes on from."""
        folder, now = self.run.folder, time.monotonic()
        self.progress.seconds, self._began = self.seconds, now
        save_network(self.learner.network, folder.weights)
        stored = [(x.key, x.version, torch.tensor(x.priorities)) for x in self.replay]
        state = {
            "progress": self.progress.state(),
            "curriculum": self.curriculum.state(),
            "learner": self.learner.state(),
            "replay": stored,
        }
        write_checkpoint(folder.checkpoint, state)
        folder.keep_only((key, version) for key, version, _ in stored)
        source.saved(self)

    def _restore(self) -> None:
        path = self.run.folder.checkpoint
        state = read_checkpoint(path)
        try:
            self.progress = Progress.restored(state["progress"])
            self.curriculum.restore(state["curriculum"])
            self.learner.restore(state["learner"])
            stored = [(int(k), int(v), p.numpy()) for k, v, p in state["replay"]]
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            reason = (str(error).splitlines() or [repr(error)])[0]
            raise InputError(path, f"expected a checkpoint: {reason}") from error
        self.say("reading trajectories")
        self.replay.restore(
            (key, version, self._loaded(key, version), priorities)
            for key, version, priorities in stored
        )

    def _loaded(self, key: int, version: int) -> Trajectory:
        path = self.run.folder.trajectory(key, version)
        return load(path, self.run.entries, self.players.observing)

    def _demonstrate(self) -> None:
        """Begin with demonstrations, if there are to be any."""
        run = self.run
        if (config := run.config.demonstrations) is None:
            return
        observing = self.players.observing
        for trajectory in demonstrations(
            run.entries, observing, run.folder.maps, config, run.seed, self.say
        ):
            self._keep(trajectory)

    def _tell(self, what: str) -> None:
        self.say(f"{what}: {self.progress}")
