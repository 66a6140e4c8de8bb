"""Changes of a plan that can be taken back, with the simulated time of what results."""

from __future__ import annotations

from hybridalloc.baselines.placed import Placed
from hybridalloc.baselines.plan import Plan
from hybridalloc.baselines.tables import Tables
from hybridalloc.simulator import Simulator
from hybridalloc.stays import Stay


class Edits:
    """Edits a plan; all since the last ``keep`` can be undone."""

    def __init__(self, plan: Plan, simulator: Simulator) -> None:
        self.plan = plan
        self.tables = Tables(plan.program)
        for group in plan.placed:
            for placed in group:
                self.tables.put(placed)
        self._simulator = simulator
        self._done: list[tuple[Placed, bool]] = []
        """Stays, and whether each was put in."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was changed since the last ``keep``."""
        return not self._done

    def time(self) -> float:
        """The simulated seconds of the plan's map."""
        return self._simulator.evaluate(self.tables.arrays)

    def put(self, placed: Placed) -> None:
        """Put in what is known to fit."""
        self._note(self.plan.put(placed))

    def place(self, stay: Stay, may_stall: bool) -> Placed | None:
        """``Plan.place``."""
        return self._note(self.plan.place(stay, may_stall))

    def place_cross_program(self, stay: Stay) -> Placed | None:
        """``Plan.place_cross_program``."""
        return self._note(self.plan.place_cross_program(stay))

    def _note(self, placed: Placed | None) -> Placed | None:
        if placed:
            self.tables.put(placed)
            self._done.append((placed, True))
        return placed

    def take_out(self, placed: Placed) -> None:
        """Take out a stay."""
        self._remove(placed)
        self._done.append((placed, False))

    def _remove(self, placed: Placed) -> None:
        self.plan.take_out(placed)
        self.tables.take_out(placed)

    def keep(self) -> None:
        """Make all edits so far final."""
        self._done.clear()

    def undo(self) -> None:
        """Take back all edits since the last ``keep``, the last one first."""
        while self._done:
            placed, was_put = self._done.pop()
            if was_put:
                self._remove(placed)
            else:
                self.plan.put(placed)
                self.tables.put(placed)
