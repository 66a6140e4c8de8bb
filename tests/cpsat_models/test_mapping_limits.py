"""The exact model at its limits: the deadline, and numbers that CP-SAT can hold."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from named_problems import CHAIN
from named_problems import target as target_of

from hybridalloc import MemoryMap, Problem, Run, solve
from hybridalloc.cpsat_models.mapping.engine import Ending, Engine
from hybridalloc.cpsat_models.mapping.examiner import Examiner, Verdict
from hybridalloc.cpsat_models.mapping.extraction import Draft, Piece, Stay
from hybridalloc.cpsat_models.mapping.formulation import formulate
from hybridalloc.cpsat_models.mapping.incumbent import Incumbent
from hybridalloc.cpsat_models.mapping.offsets import Conflict, Placement
from hybridalloc.cpsat_models.mapping.units import LONGEST, Units, units_for
from hybridalloc.cpsat_models.mapping.variables import Model
from hybridalloc.memory_map import Origin
from hybridalloc.program import Buffer, Instruction, Program
from hybridalloc.simulator import Simulator
from hybridalloc.target import CopyEngine


class LateEngine(Engine):
    """Its deadline passes with its first answer."""

    def solve(self, model: Model, *_: object, **__: object) -> Ending:
        """The answer, in time."""
        ending = super().solve(model)
        self.deadline = 0.0
        return ending


def blocked() -> tuple[Problem, Draft]:
    """A buffer kept in the middle of 12 bytes beside one of 8, and two of no matter."""
    buffers = (
        Buffer("middle", 4, is_input=True, offset=4),
        Buffer("large", 8, is_input=True),
        Buffer("one", 4, is_input=True),
        Buffer("other", 4, is_input=True),
    )
    program = Program("p", (Instruction("i"),) * 2, buffers)
    model = Model()
    stays = [
        Stay(
            number,
            time,
            Origin.PREFETCHED,
            time,
            [Piece(time, time + 1, (model.literal(),))],
            number=number,
        )
        for number, time in enumerate((1, 1, 0, 0))
    ]
    return replace(CHAIN, program=program, target=target_of(capacity=12)), Draft(stays)


def engine() -> Engine:
    return Engine(math.inf, workers=1, seed=0)


@pytest.mark.parametrize(("kind", "literals"), [(Engine, 2), (LateEngine, 4)])
def test_a_conflict_is_made_smaller_only_until_the_deadline(
    kind: type[Engine], literals: int
) -> None:
    """It is one of the first two; late, all four are blamed, which is no less true."""
    problem, draft = blocked()
    solver = kind(math.inf, workers=1, seed=0)
    conflict = Placement(problem, solver).place(draft)
    assert isinstance(conflict, Conflict)
    assert conflict.proven
    assert len(conflict.literals) == literals


class AnswersOnce(Placement):
    """Has no time for a second answer."""

    asked = 0

    def place(self, draft: Draft) -> MemoryMap | Conflict:
        """A map the first time."""
        self.asked += 1
        return super().place(draft) if self.asked == 1 else Conflict((), proven=False)


def test_a_solution_is_given_its_places_once() -> None:
    units = units_for(CHAIN, Simulator(CHAIN).slow_s)
    formulation = formulate(CHAIN, units, free_dues=True)
    assert formulation is not None
    placement = AnswersOnce(CHAIN, engine())
    examiner = Examiner(formulation, Incumbent(CHAIN, Run()), placement)
    solver = engine()
    assert solver.solve(formulation.model) is Ending.OPTIMAL
    verdict = examiner.examine(solver.solver.boolean_value, solver.solver.value)
    assert verdict is Verdict.DONE
    assert placement.asked == 1
    assert examiner.incumbent.best is not None


def test_units_are_so_long_that_the_longest_time_is_no_number_too_large() -> None:
    units = units_for(CHAIN, 1e-6, longest_s=1e6)
    assert units.down(1e6) <= LONGEST
    assert units_for(CHAIN, 1e-6).second > units.second


def test_a_model_that_cpsat_would_refuse_gets_longer_units() -> None:
    """With 1e16 units in a second, sums of the chain's numbers are above 2**63."""
    made = formulate(CHAIN, Units(1e16), free_dues=False)
    assert made is not None
    assert made.units == Units(1e13)
    assert made.model.validate() == ""


def test_copies_may_take_longer_than_any_number_can_say() -> None:
    """They are of no use: everything stays in slow memory, or is produced in fast."""
    forever = target_of(engine=CopyEngine(startup_s=1e20))
    result = solve(replace(CHAIN, target=forever), "cpsat", iterations=1)
    assert result.map is not None
    assert not any(x.has_copy for x in result.map.allocations)
