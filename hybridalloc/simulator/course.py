"""The course of one run under a memory map: what happens when (docs/model.md, Time).

The same steps as ``stall_time`` takes, one at a time, with a record of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.simulator.map_arrays import MapArrays
from hybridalloc.simulator.stalls import (
    DONE,
    ISSUED,
    LEFT,
    advance,
    begin_program,
    demand,
    finish,
    issue,
    turn,
)
from hybridalloc.simulator.tape import BEGIN, END, RUN, Events, Tape


class Activity(StrEnum):
    """What goes on for a while."""

    RUN = "run"
    """An instruction runs."""
    STALL = "stall"
    """The program waits for copies at a point."""
    REPEAT = "repeat"
    """Trips of a loop that are like the one before, and so are not played."""


@dataclass(frozen=True, slots=True)
class Span:
    """An activity from one time to another, in seconds from the start of the run."""

    activity: Activity
    index: int
    """The instruction, the point or the loop."""
    start_s: float
    end_s: float
    trips: int = 0
    """How many trips of a loop are repeated."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """A copy as it happens, in seconds from the start of the run."""

    allocation: int
    """The one that it belongs to, as an index into the map."""
    queue: int
    """``PREFETCH`` or ``EVICTION``."""
    size: int
    """Bytes."""
    issued_s: float
    """When it joins its queue."""
    start_s: float
    """When the engine begins to work on it: the copies before it are complete."""
    end_s: float


@dataclass(frozen=True, slots=True)
class Course:
    """One run from its start to its end."""

    time_s: float
    spans: tuple[Span, ...]
    """What takes time, in order, without gaps."""
    transfers: tuple[Transfer, ...]
    """In the order of their issue."""
    stall_s: Floats
    """(T+1,): seconds of stalls at each point, in all its runs."""
    waiting_s: Floats
    """(T, 2): the work in the queues of prefetches and of evictions as an instruction
    begins, in seconds: the most of all its runs that were played."""


def course(
    tape: Tape,
    events: Events,
    map_arrays: MapArrays,
    elapsed_s: Floats,
    idle_s: Floats,
) -> Course:
    """Play one run.

    Args:
        tape: The program.
        events: The copies of its map.
        map_arrays: The map.
        elapsed_s: (T,) seconds that each instruction takes, each time it runs.
        idle_s: (T,) those of them that are free for copies.
    """
    player = _Player(tape, events, elapsed_s, idle_s)
    player.play()
    return Course(
        time_s=player.now,
        spans=tuple(player.spans),
        transfers=tuple(_transfers(player, map_arrays)),
        stall_s=player.stall_s,
        waiting_s=player.waiting_s,
    )


def _transfers(player: _Player, map_arrays: MapArrays) -> Iterator[Transfer]:
    """When the engine works on each copy."""
    times, *done = np.ascontiguousarray(np.array(player.marks).T)
    for x in player.issues:
        queue = int(player.events.queue[x.copy])
        work_s = float(player.events.work_s[x.copy])
        start_s = max(
            x.at_s, _time_of(x.position - work_s, done[queue], times, "right")
        )
        end_s = max(start_s, _time_of(x.position, done[queue], times, "left"))
        yield Transfer(
            allocation=int(map_arrays.copy_allocation[x.copy]),
            queue=queue,
            size=int(map_arrays.copy_bytes[x.copy]),
            issued_s=x.at_s,
            start_s=start_s,
            end_s=end_s,
        )


def _time_of(
    work_s: float, done_s: Floats, times: Floats, side: Literal["left", "right"]
) -> float:
    """When a queue has done so much: the first moment (left), or the last (right)."""
    after = int(np.searchsorted(done_s, work_s, side=side))
    if not 0 < after < times.size:
        return float(times[min(after, times.size - 1)])
    share = (work_s - done_s[after - 1]) / (done_s[after] - done_s[after - 1])
    return float(times[after - 1] + share * (times[after] - times[after - 1]))


@dataclass(frozen=True, slots=True)
class _Issue:
    """A copy that has joined its queue."""

    copy: int
    at_s: float
    position: float
    """As in ``hybridalloc.simulator.stalls``."""


class _Player:
    """Takes the steps of one run."""

    def __init__(
        self, tape: Tape, events: Events, elapsed_s: Floats, idle_s: Floats
    ) -> None:
        self.tape, self.events = tape, events
        self.elapsed_s, self.idle_s = elapsed_s, idle_s
        self.queues, self.trips, self.before = begin_program(tape)
        self.now = 0.0
        self.spans: list[Span] = []
        self.issues: list[_Issue] = []
        self.marks = [(0.0, 0.0, 0.0)]
        """Times, and the work that each queue has done by then."""
        self.stall_s = np.zeros(elapsed_s.size + 1)
        self.waiting_s = np.zeros((elapsed_s.size, 2))
        self._position = np.full(events.work_s.size, -np.inf)
        points = np.diff(tape.first)
        self._points = np.repeat(np.arange(points.size), points).tolist()
        self._begun: dict[int, tuple[float, Floats]] = {}

    def play(self) -> None:
        """Go from the start of the run to its end."""
        depth, step = 0, 0
        while True:
            self.trips[0, LEFT] -= 1
            self._do_copies(step)
            action, what = int(self.tape.action[step]), int(self.tape.what[step])
            if action == RUN:
                self._run(what)
            elif action == END:
                break
            else:
                depth, step = self._turn(depth, step)
            step += 1
        for queue in range(2):
            demand(self.queues, queue, self.queues[queue, ISSUED])
        self._wait(int(self.tape.what[step]))

    def _do_copies(self, step: int) -> None:
        """Finish what is due at a step, then issue what is issued there."""
        events, waiting, point = self.events, False, self._points[step]
        for event in events.event[events.first[step] : events.first[step + 1]]:
            if event < 0:
                demand(self.queues, events.queue[~event], self._position[~event])
                waiting = True
                continue
            if waiting:
                self._wait(point)
                waiting = False
            position = issue(self.queues, events.queue[event], events.work_s[event])
            self._position[event] = position
            self.issues.append(_Issue(int(event), self.now, position))
        if waiting:
            self._wait(point)

    def _wait(self, point: int) -> None:
        seconds = float(finish(self.queues))
        self.stall_s[point] += seconds
        self._pass(Activity.STALL, point, seconds)

    def _run(self, t: int) -> None:
        left = self.queues[:, ISSUED] - self.queues[:, DONE]
        self.waiting_s[t] = np.maximum(self.waiting_s[t], left)
        advance(self.queues, self.idle_s[t])
        self._pass(Activity.RUN, t, float(self.elapsed_s[t]))

    def _turn(self, depth: int, step: int) -> tuple[int, int]:
        """Begin a loop, or end one of its trips."""
        loop, begins = int(self.tape.what[step]), self.tape.action[step] == BEGIN
        left = self.trips[depth, LEFT]
        now_depth, to, _ = turn(
            self.tape, self.queues, self.trips, self.before, depth, step, 0.0
        )
        if not begins:
            repeated = int(left - self.trips[depth, LEFT]) - 1
            start, stall_s = self._begun[depth]
            self.stall_s += repeated * (self.stall_s - stall_s)
            seconds = repeated * (self.now - start)
            self._pass(Activity.REPEAT, loop, seconds, repeated)
        if now_depth > depth or (not begins and now_depth == depth):
            self._begun[now_depth] = self.now, self.stall_s.copy()
        return now_depth, to

    def _pass(
        self, activity: Activity, index: int, seconds: float, trips: int = 0
    ) -> None:
        if seconds > 0:
            end = self.now + seconds
            self.spans.append(Span(activity, index, self.now, end, trips))
            self.now = end
        self.marks.append((self.now, *self.queues[:, DONE].tolist()))
