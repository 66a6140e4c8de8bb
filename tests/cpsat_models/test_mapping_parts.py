"""The parts of the exact model: space, offsets, units, bounds."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from named_problems import CHAIN, NAMED
from named_problems import target as target_of
from small_problems import small_problem

from hybridalloc import MemoryMap, Problem
from hybridalloc.baselines.brute_force import BruteForce
from hybridalloc.cpsat_models.mapping.capacity import usable_blocks
from hybridalloc.cpsat_models.mapping.engine import Ending, Engine
from hybridalloc.cpsat_models.mapping.extraction import Draft, Piece, Stay, extract
from hybridalloc.cpsat_models.mapping.formulation import Formulation, formulate
from hybridalloc.cpsat_models.mapping.hints import hints_from
from hybridalloc.cpsat_models.mapping.limits import keeps_limits
from hybridalloc.cpsat_models.mapping.linear import LinearPart, is_true
from hybridalloc.cpsat_models.mapping.milp import Milp
from hybridalloc.cpsat_models.mapping.offsets import Conflict, Placement
from hybridalloc.cpsat_models.mapping.places import offsets_alone
from hybridalloc.cpsat_models.mapping.proof import Proof
from hybridalloc.cpsat_models.mapping.units import MOST_UNITS, ROUNDING, units_for
from hybridalloc.cpsat_models.mapping.variables import Model
from hybridalloc.memory_map import Allocation, Eviction, Origin, Slice
from hybridalloc.program import Buffer, Instruction, Program
from hybridalloc.simulator import Simulator
from hybridalloc.solving import solve
from hybridalloc.target import CopyEngine, MemorySpace


def model_of(problem: Problem, *, free_dues: bool = False) -> Formulation:
    units = units_for(problem, Simulator(problem).slow_s)
    formulation = formulate(problem, units, free_dues=free_dues)
    assert formulation is not None
    return formulation


def engine() -> Engine:
    return Engine(math.inf, workers=1, seed=0)


@pytest.mark.parametrize(
    ("reserved", "scratch", "blocks"),
    [
        ((), 0, 4),  # at 0, 4, 8 and 12: the last has 2 bytes
        ((), 5, 2),  # at 8 and 12
        (((5, 9),), 0, 3),  # not at 8
        (((0, 14),), 0, 0),
        (((20, 30),), 0, 4),
    ],
)
def test_a_block_is_usable_if_its_first_byte_is(
    reserved: tuple[tuple[int, int], ...], scratch: int, blocks: int
) -> None:
    space = MemorySpace("fast", 1.0, 1.0, 14, 4, reserved)
    assert usable_blocks(space, scratch) == blocks


@pytest.mark.parametrize(
    ("size", "fixed", "scratch", "offsets"),
    [
        (4, None, 0, [0, 4, 8, 16]),
        (8, None, 0, [0, 4]),  # at 8 it would reach into [12, 16)
        (8, 4, 0, [4]),
        (8, 6, 0, []),  # no multiple of the alignment
        (8, None, 3, [4]),
        (13, None, 0, []),
        (0, None, 9, [0, 4, 8, 12, 16, 20]),
    ],
)
def test_a_buffer_alone_keeps_clear_of_what_is_taken(
    size: int, fixed: int | None, scratch: int, offsets: list[int]
) -> None:
    """Fast memory has 20 bytes, of which [12, 16) are reserved."""
    space = MemorySpace("fast", 1.0, 1.0, 20, 4, ((12, 16),))
    domain = offsets_alone(space, size, fixed, scratch)
    assert [4 * x for x in range(9) if domain.contains(x)] == offsets


def stay(
    model: Model, number: int, start: int, end: int, buffer: int | None = None
) -> Stay:
    """One that takes its space by one literal for each instruction."""
    pieces = [Piece(t, t + 1, (model.literal(),)) for t in range(start, end)]
    buffer = number if buffer is None else buffer
    return Stay(buffer, start, Origin.PREFETCHED, start, pieces, number=number)


def fragmented() -> tuple[Problem, Draft]:
    """Fast memory of 12 bytes: a, b and c, of 4, then d, of 8, beside b alone."""
    sizes = {"a": 4, "b": 4, "c": 4, "d": 8}
    program = Program(
        "p",
        (Instruction("i"),) * 4,
        tuple(Buffer(name, size, is_input=True) for name, size in sizes.items()),
    )
    problem = replace(CHAIN, program=program, target=target_of(capacity=12))
    model = Model()
    spans = [(0, 2), (0, 3), (0, 2), (2, 3)]
    stays = [stay(model, i, *span) for i, span in enumerate(spans)]
    return problem, Draft(stays)


def test_offsets_are_found_where_there_are_any() -> None:
    problem, draft = fragmented()
    placed = Placement(problem, engine()).place(draft)
    assert isinstance(placed, MemoryMap)  # b is at one end
    assert len(placed) == 4


def test_why_there_are_no_offsets_is_told_with_few_literals() -> None:
    """Buffer b is kept in the middle, and only when d begins does that matter."""
    problem, draft = fragmented()
    buffers = list(problem.program.buffers)
    buffers[1] = replace(buffers[1], offset=4)
    problem = replace(problem, program=replace(problem.program, buffers=tuple(buffers)))
    conflict = Placement(problem, engine()).place(draft)
    assert isinstance(conflict, Conflict)
    assert conflict.proven
    assert conflict.at_once == {1, 3}
    b, d = draft.stays[1].pieces[2], draft.stays[3].pieces[0]
    assert {x.index for x in conflict.literals} == {
        b.literals[0].index,
        d.literals[0].index,
    }


def test_stays_that_share_a_place_are_not_there_at_one_time() -> None:
    problem, _ = fragmented()
    model = Model()
    stays = [stay(model, 0, 0, 2), stay(model, 1, 1, 3, buffer=0)]
    conflict = Placement(problem, engine()).place(Draft(stays, [[0, 1]]))
    assert isinstance(conflict, Conflict)
    assert len(conflict.literals) == 4


def test_units_are_short_enough_for_the_slack_of_all_steps() -> None:
    problem = NAMED["loops within and beside loops"]
    slow_s = Simulator(problem).slow_s
    units = units_for(problem, slow_s)
    slack = sum(
        count * (len(x.accesses) + 10)
        for count, x in zip(
            problem.program.multiplicity, problem.program.instructions, strict=True
        )
    )
    assert units.seconds(slack) <= ROUNDING * slow_s * (1 + 1e-9)
    assert units.down(slow_s) <= MOST_UNITS
    assert units.up(1 / units.second * 1.5) == 2
    assert units_for(problem, 0.0).second == 1.0


def test_limits_count_copies_at_their_points() -> None:
    """The second prefetch is issued where the first is due; the eviction is alone.

    A slice counts as one.
    """
    machine = target_of(engine=CopyEngine(1, 1))
    problem = replace(CHAIN, target=machine)
    first = Allocation(0, 0, 0, 2, Origin.PREFETCHED, ready=1)
    second = Allocation(0, 8, 1, 3, Origin.PREFETCHED, ready=2)
    at_once = Allocation(0, 16, 1, 2, Origin.PREFETCHED)
    evicted = Allocation(1, 24, 0, 3, eviction=Eviction(1, 2))
    assert keeps_limits(problem, MemoryMap((first, second, evicted)))
    assert not keeps_limits(problem, MemoryMap((first, second, at_once)))
    assert not keeps_limits(problem, MemoryMap((evicted, evicted)))
    sliced = replace(first, ready=2, end=3, slices=(Slice(4, 0), Slice(4, 1)))
    assert not keeps_limits(problem, MemoryMap((sliced,)))


@pytest.mark.parametrize("free_dues", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_best_map_is_a_solution_and_no_dearer_than_it_is(
    seed: int, free_dues: bool
) -> None:
    """Its hints leave nothing open but times, and the model's time is a bound."""
    problem = small_problem(seed)
    truth = solve(problem, BruteForce(), iterations=60)
    if truth.map is None or truth.time is None:
        return
    formulation = model_of(problem, free_dues=free_dues)
    for literal, value in hints_from(formulation.variables, truth.map):
        formulation.model.add(literal == value)
    solver = engine()
    assert solver.solve(formulation.model) is Ending.OPTIMAL
    found = formulation.units.seconds(solver.solver.objective_value)
    assert found <= truth.time * (1 + 1e-9)
    draft = extract(formulation.variables, solver.solver.boolean_value)
    stays = [(x.buffer, x.start, x.end) for x in draft.stays]
    assert len(stays) >= len({x.buffer for x in truth.map.allocations})


@pytest.mark.parametrize("seed", range(12))
def test_the_linear_part_bounds_the_model(seed: int) -> None:
    """Its best solution, in exact arithmetic, takes no more units than the model's."""
    formulation = model_of(small_problem(seed))
    part = LinearPart(formulation.model)
    proof = Proof(part, math.inf)
    proof.run(math.inf)
    solver = engine()
    ending = solver.solve(formulation.model)
    if ending is Ending.INFEASIBLE:
        return
    assert 0 <= proof.bound <= solver.solver.objective_value


def test_a_proof_may_end_at_any_time() -> None:
    formulation = model_of(NAMED["more than fits"])
    proof = Proof(LinearPart(formulation.model), deadline=0.0)
    proof.run(math.inf)
    solver = engine()
    assert solver.solve(formulation.model) is Ending.OPTIMAL
    assert 0 <= proof.bound <= solver.solver.objective_value


def test_solutions_of_the_linear_part_become_maps() -> None:
    formulation = model_of(NAMED["a value that waits long"])
    found = list(Milp(LinearPart(formulation.model)).solve(math.inf))
    draft = extract(formulation.variables, lambda x: is_true(found[-1], x))
    problem = formulation.variables.problem
    placed = Placement(problem, engine()).place(draft)
    assert isinstance(placed, MemoryMap)
    assert Simulator(problem).simulate(placed).time_s == 112


def test_an_error_in_who_watches_ends_the_solve() -> None:
    formulation = model_of(CHAIN)

    def take(_: object) -> None:
        raise LookupError("of no use")

    with pytest.raises(LookupError, match="of no use"):
        engine().solve(formulation.model, take)
