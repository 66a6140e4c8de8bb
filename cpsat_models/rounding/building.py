"""Maps of a decision: its stays get their copies, then their places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum

import numpy as np

from hybridalloc.allocating import in_queue_order
from hybridalloc.baselines.drop import drop
from hybridalloc.baselines.moves import Moves, until_expired, weigh
from hybridalloc.baselines.placed import Placed
from hybridalloc.baselines.plan import Plan
from hybridalloc.cpsat_models.rounding.config import LpConfig
from hybridalloc.cpsat_models.rounding.load import Load
from hybridalloc.cpsat_models.rounding.settling import Settled
from hybridalloc.cpsat_models.rounding.slicing import place_sliced
from hybridalloc.loops import Loops
from hybridalloc.memory_map import Allocation, MemoryMap
from hybridalloc.packing.maps import blocks_of
from hybridalloc.packing.repack import repack
from hybridalloc.pins import is_pinned
from hybridalloc.problem import Problem
from hybridalloc.simulator import Simulator
from hybridalloc.solver import Run
from hybridalloc.stays import Stay, candidate_stays

LOAD_SHARE = 0.7
"""The share of the time left that may pass until a map gets its places."""
PACKINGS = 60
"""So many are tried for one map."""


class Order(StrEnum):
    """Which stays get their copies first."""

    EVICTIONS = "evictions"
    """What needs none; what is evicted, as time goes; what is prefetched, the last
    first, so that each is issued as late as can be."""
    TIME = "time"
    """As time goes."""
    HIDDEN = "hidden"
    """As time goes, what needs no copies first, and last those that make the program
    wait."""
    VALUE = "value"
    """What saves most for what it takes, unless its copies make the program wait."""


class Builder:
    """Builds maps of decisions for one problem."""

    def __init__(
        self, problem: Problem, simulator: Simulator, config: LpConfig, run: Run
    ) -> None:
        self._problem, self._simulator = problem, simulator
        self._config, self._run = config, run
        self._loops = Loops(problem.program)
        self.empty = Plan(problem, self._loops)
        """Nothing is placed in it."""
        stays = until_expired(run, candidate_stays(problem, self._loops))
        self._candidates = weigh(self.empty, stays, config.weights)

    def build(self, settled: Settled) -> Plan | None:
        """The best plan of a decision; ``None`` if what is pinned has no place."""
        run = replace(self._run, deadline=self._run.until(LOAD_SHARE))
        plans: list[Plan] = []
        for order in Order:
            if plans and run.expired:
                break
            plan = self._loaded(settled, order, run)
            if plan is not None:
                plans.append(plan)
        return self._with_places(min(plans, key=self._seconds)) if plans else None

    def _seconds(self, plan: Plan) -> float:
        """The simulated time of a plan's map, whether it has places or not."""
        return self._simulator.simulate(plan.memory_map()).time_s

    def _loaded(self, settled: Settled, order: Order, run: Run) -> Plan | None:
        """A plan without places, its stays taken in an order."""
        plan = Plan(self._problem, self._loops)
        plan.space = load = Load(self._problem)
        if not plan.place_pinned():
            return None
        own = weigh(plan, settled.stays, self._config.weights)
        plan.engine.count_on(settled.idle)  # as there will be once all is placed
        most = plan.problem.target.cross_program_prefetches
        for stay in settled.cross_program[:most]:
            plan.place_cross_program(stay)
        if order is Order.VALUE:
            Moves(plan, own, run).place_all()
        else:
            waits = order is not Order.HIDDEN
            for stay in until_expired(run, _in_order(settled.stays, order)):
                _place(plan, load, stay, may_stall=waits)
        for stay in until_expired(run, _in_order(settled.stays, Order.TIME)):
            _place(plan, load, stay, may_stall=True)
        plan.engine.hope_for(0.0)  # from here on as there is
        drop(plan, self._simulator, run)
        Moves(plan, own, run).place_all(may_stall=True)
        self._complete(plan, run)
        return plan

    def _complete(self, plan: Plan, run: Run) -> None:
        """Place whatever saves time besides, and drop what does not."""
        Moves(plan, self._candidates, run).place_all(may_stall=True)
        drop(plan, self._simulator, run)

    def _with_places(self, loaded: Plan) -> Plan | None:
        """The plan with places, without what has none, and with what fits besides."""
        plan = Plan(self._problem, self._loops)
        placed = [one for group in loaded.placed for one in group]
        packed = self._packed(placed)
        for one in placed:
            if one in packed:
                plan.put(packed[one])
            elif is_pinned(plan.program, one.stay.buffer):
                return None
        moves = Moves(plan, self._candidates, self._run)
        moves.place_all(may_stall=True)
        moves.displace_all(self._config.displacements)
        moves.place_cross_programs(self._config.cross_programs)
        self._complete(plan, self._run)
        return plan

    def _packed(self, placed: Iterable[Placed]) -> dict[Placed, Placed]:
        """What has a place, with that."""
        owners = {x: one for one in placed for x in one.allocations}
        before = in_queue_order(owners)
        allocations = tuple(replace(x, offset=None) for x in before)
        groups = blocks_of(self._problem, MemoryMap(allocations))
        offsets = repack(
            [group.block for group in groups],
            self._problem.target.fast,
            scratch=[x.scratch_bytes for x in self._problem.program.instructions],
            goal=self._problem.target.capacity,
            rng=np.random.default_rng(self._run.seed),
            deadline=self._run.deadline,
            iterations=PACKINGS,
        )
        moved: dict[Placed, list[Allocation]] = defaultdict(list)
        for group, offset in zip(groups, offsets, strict=True):
            for i in group.members if offset is not None else ():
                moved[owners[before[i]]].append(replace(allocations[i], offset=offset))
        return {
            one: replace(one, allocations=tuple(parts))
            for one, parts in moved.items()
            if len(parts) == len(one.allocations)
        }


def _place(plan: Plan, load: Load, stay: Stay, may_stall: bool) -> None:
    """Place a stay if it fits; in slices or with a stall only if need be."""
    if plan.overlapping(stay) or plan.place(stay) or place_sliced(plan, load, stay):
        return
    if may_stall:
        plan.place(stay, may_stall=True)


def _in_order(stays: Iterable[Stay], order: Order) -> list[Stay]:
    """The stays, the first to be placed first."""

    def key(stay: Stay) -> tuple[int, int]:
        copies = not stay.produced or stay.evicts
        if order is Order.TIME:
            return 0, stay.start
        if order is Order.HIDDEN or stay.produced:
            return int(copies), stay.start
        return 2, -stay.start

    return sorted(stays, key=key)
