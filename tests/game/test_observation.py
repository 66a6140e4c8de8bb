"""What a player sees of a position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from game_cases import (
    COPY,
    DONATED_BUFFER,
    DROP,
    LOOP_AND_CHAIN,
    STAY,
    drawn_game,
    game_of,
)
from hypothesis import given
from hypothesis import strategies as st
from named_problems import NAMED, OUT, W, X, Y, problem, reads, target, writes
from small_problems import Sizes, small_problem
from strategies import problems

from hybridalloc.arrays import Floats
from hybridalloc.cost_model import elapsed, idle
from hybridalloc.game import Action
from hybridalloc.game.fast import FastGame, Position
from hybridalloc.game.observation import (
    Observation,
    ObservationConfig,
    Observer,
    tables,
)
from hybridalloc.game.observation.scales import edges
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import Access, Buffer, Instruction, Loop, Program

FINE = ObservationConfig(past=3, future=5, rows=7, tokens=4)
SIZES = Sizes(buffers=9, instructions=24, loops=5)
HIDDEN = problem((W, OUT), (), (), (reads(0), writes(1)), compute={0: 10.0, 1: 30.0})
"""A weight that is read after two long computations. All in slow memory takes 56 s."""


def begin(
    given_one: Problem, config: ObservationConfig = FINE
) -> tuple[Position, Observer]:
    """The first position of a game, and its observer."""
    game = FastGame(game_of(given_one))
    return game.begin(), Observer(game, config)


def seen_after(
    given_one: Problem, *actions: Action, config: ObservationConfig = FINE
) -> Observation:
    """What is seen after these actions."""
    position, observer = begin(given_one, config)
    for action in actions:
        position.apply(action)
    return observer.observe(position)


def positions(start: Position, seed: int) -> Iterator[Position]:
    """Those of a random game, the first and the last among them."""
    random = np.random.default_rng(seed)
    yield start
    while not start.is_terminal:
        start.play_randomly(random, 1)
        yield start


def present(position: Position) -> int:
    """The present instruction; the number of all at the end."""
    game = position.game.game
    if position.is_terminal:
        return len(game.problem.program)
    return game.steps[position.step].instruction


def spans(position: Position, config: ObservationConfig) -> list[range]:
    """The instructions of each span of time."""
    length, now = len(position.game.game.problem.program), present(position)
    at = np.clip(now + edges(length, config), 0, length).tolist()
    return [range(*ends) for ends in pairwise(at)]


def rectangles(position: Position) -> list[tuple[int, int, range]]:
    """What is taken: from and until which unit, during which instructions."""
    given_one = position.game.game.problem
    fast, found = given_one.target.fast, []
    taken = [(low, high, range(len(given_one.program))) for low, high in fast.reserved]
    for t, instruction in enumerate(given_one.program.instructions):
        taken.append((0, instruction.scratch_bytes, range(t, t + 1)))
    for x in position.memory_map().allocations:
        size = given_one.program.buffers[x.buffer].size
        taken += [
            (low, high, range(start, x.end)) for low, high, start in x.parts(size)
        ]
    for low, high, when in taken:
        found.append((low // fast.alignment, -(-high // fast.alignment), when))
    return found


def raster(position: Position, config: ObservationConfig) -> Floats:
    """The profile of what is taken, cell by cell on a fine grid."""
    target = position.game.game.problem.target
    capacity, fine = target.capacity // target.fast.alignment, config.rows
    grid = np.zeros((len(position.game.game.problem.program), capacity * fine))
    for low, high, when in rectangles(position):
        grid[when.start : when.stop, low * fine : high * fine] = 1
    rows = grid.reshape(len(grid), config.rows, capacity).mean(axis=2)
    nothing = np.zeros(config.rows)
    found = [rows[x.start : x.stop] for x in spans(position, config)]
    return np.array([x.mean(axis=0) if len(x) else nothing for x in found])


def extended_game(drawn: Problem) -> FastGame:
    """The game of a drawn problem, with both extensions."""
    return FastGame(drawn_game(drawn, waits=True, shifts=True))


@given(problems(pinned=True), st.integers(0, 999))
def test_all_that_is_seen_is_finite_and_within_minus_one_and_one(
    drawn: Problem, seed: int
) -> None:
    game = extended_game(drawn)
    observer = Observer(game, FINE)
    for position in positions(game.begin(), seed):
        seen = observer.observe(position)
        for array, shape in zip(seen, observer.shapes, strict=True):
            assert array.shape == shape
            assert array.dtype == np.float32
            assert np.isfinite(array).all()
            assert np.abs(array).max() <= 1
        assert min(seen.profile.min(), seen.supply.min()) >= 0


@given(problems(pinned=True), st.integers(0, 999))
def test_the_profile_is_what_the_map_takes(drawn: Problem, seed: int) -> None:
    game = extended_game(drawn)
    observer = Observer(game, FINE)
    for position in positions(game.begin(), seed):
        taken = observer.observe(position).profile[tables.TAKEN_SHARE]
        assert taken == pytest.approx(raster(position, FINE), abs=1e-5)


@given(st.integers(0, 999))
def test_to_look_at_a_position_changes_nothing(seed: int) -> None:
    """Neither what is played after it nor what is seen a second time."""
    game = extended_game(small_problem(seed, SIZES))
    observer, blind = Observer(game, FINE), game.begin()
    random = np.random.default_rng(seed)
    for position in positions(game.begin(), seed):
        first, again = observer.observe(position), observer.observe(position.copy())
        for one, other in zip(first, again, strict=True):
            assert np.array_equal(one, other)
        assert position.mask().tolist() == blind.mask().tolist()
        assert position.time_s == blind.time_s
        blind.play_randomly(random, 1)


def rescaled(given_one: Problem, sizes: int, seconds: float) -> Problem:
    """The same problem in other units of size and time."""
    machine, program = given_one.target, given_one.program
    memories = tuple(
        replace(
            x,
            read_bandwidth=x.read_bandwidth * sizes / seconds,
            write_bandwidth=x.write_bandwidth * sizes / seconds,
            capacity=x.capacity and x.capacity * sizes,
            alignment=x.alignment * sizes if i == 0 else x.alignment,
            reserved=tuple((low * sizes, high * sizes) for low, high in x.reserved),
        )
        for i, x in enumerate(machine.spaces)
    )
    engine = machine.copy_engine
    engine = replace(engine, startup_s=engine.startup_s * seconds)
    buffers = tuple(
        replace(x, size=x.size * sizes, offset=x.offset and x.offset * sizes)
        for x in program.buffers
    )
    instructions = tuple(_rescaled(x, sizes, seconds) for x in program.instructions)
    return replace(
        given_one,
        program=replace(program, buffers=buffers, instructions=instructions),
        target=replace(
            machine,
            spaces=memories,
            clock_hz=machine.clock_hz / seconds,
            copy_engine=engine,
        ),
    )


def _rescaled(instruction: Instruction, sizes: int, seconds: float) -> Instruction:
    accesses = tuple(
        replace(x, read_bytes=x.read_bytes * sizes, write_bytes=x.write_bytes * sizes)
        for x in instruction.accesses
    )
    return replace(
        instruction,
        compute_s=instruction.compute_s * seconds,
        accesses=accesses,
        scratch_bytes=instruction.scratch_bytes * sizes,
    )


@given(st.integers(0, 999), st.sampled_from([2, 4096]), st.sampled_from([0.25, 1024.0]))
def test_other_units_of_size_and_time_look_the_same(
    seed: int, sizes: int, seconds: float
) -> None:
    """The factors of time are powers of two, so that all is exact."""
    one = extended_game(small_problem(seed, SIZES))
    other = extended_game(rescaled(one.game.problem, sizes, seconds))
    observers = Observer(one, FINE), Observer(other, FINE)
    for pair in zip(
        positions(one.begin(), seed), positions(other.begin(), seed), strict=True
    ):
        seen = [
            x.observe(position) for x, position in zip(observers, pair, strict=True)
        ]
        for name, ours, theirs in zip(Observation._fields, *seen, strict=True):
            assert theirs == pytest.approx(ours, abs=1e-6), name


@given(problems(CostModel.ROOFLINE), st.integers(0, 999))
def test_idle_time_is_that_of_the_cost_model(drawn: Problem, seed: int) -> None:
    game = FastGame(game_of(drawn))
    observer, runs = Observer(game, FINE), drawn.program.multiplicity
    for position in positions(game.begin(), seed):
        served = served_by(position)
        shares = []
        for span in spans(position, FINE):
            all_s = sum(runs[t] * served[t][0] for t in span)
            idle_s = sum(runs[t] * served[t][1] for t in span)
            shares.append(idle_s / all_s if all_s else 0.0)
        supply = observer.observe(position).supply
        assert supply[tables.IDLE_SHARE] == pytest.approx(shares, abs=1e-5)
        assert (supply[tables.USED_SHARE] <= supply[tables.IDLE_SHARE] + 1e-6).all()


def served_by(position: Position) -> list[tuple[float, float]]:
    """The time and the idle time of each instruction, in seconds."""
    given_one = position.game.game.problem
    fast: list[set[int]] = [set() for _ in given_one.program.instructions]
    for x in position.memory_map().allocations:
        for use in given_one.program.uses[x.buffer]:
            if x.ready <= use.instruction < x.end:
                fast[use.instruction].add(x.buffer)
    return [
        (elapsed(given_one, t, x), idle(given_one, t, x)) for t, x in enumerate(fast)
    ]


def test_a_copy_uses_the_idle_time_before_it_is_due() -> None:
    """The weight is copied during the second computation: 8 of its 30 s."""
    supply = seen_after(HIDDEN, COPY).supply
    before, now = FINE.past - 1, FINE.past
    assert supply[tables.WITHIN, [before, now]].tolist() == [1, 1]
    assert supply[tables.IDLE_SHARE, before] == 1
    assert supply[tables.USED_SHARE, before] == pytest.approx(8 / 30)
    assert supply[tables.FETCHING_SHARE, before] == pytest.approx(1 / 40)
    assert supply[tables.USED_SHARE, now] == supply[tables.FETCHING_SHARE, now] == 0
    nothing = seen_after(HIDDEN, DROP).supply
    assert nothing[[tables.USED_SHARE, tables.FETCHING_SHARE]].max() == 0


def test_what_a_live_stay_would_need_is_told_apart_from_what_it_has() -> None:
    """X is written, then not read for two instructions; it is in the lowest quarter."""
    waiting = problem(
        (X, Y, OUT), (writes(0),), (writes(1),), (), (reads(0), writes(2))
    )
    config = ObservationConfig(past=2, future=4, rows=4, tokens=1)
    profile = seen_after(waiting, STAY, config=config).profile
    assert edges(4, config).tolist() == [-4, -2, 0, 1, 2, 3, 4]
    assert profile[tables.TAKEN_SHARE].any(axis=1).tolist() == [0, 1, 0, 0, 0, 0]
    assert profile[tables.HOPED_SHARE, :, 0].tolist() == [0, 0, 1, 1, 1, 0]
    assert not profile[:, :, 1:].any()


def test_tokens_tell_of_the_coming_accesses_in_their_order() -> None:
    tokens = seen_after(HIDDEN).tokens
    assert tokens[:, tables.IS_ACCESS].tolist() == [1, 1, 0, 0]
    assert tokens[0, tables.SIZE] == 8 / 32
    assert tokens[:2, tables.IS_INPUT].tolist() == [1, 0]
    assert tokens[:2, tables.IS_OUTPUT].tolist() == [0, 1]
    assert tokens[:2, tables.IS_WHOLE].tolist() == [0, 1]
    assert tokens[:2, tables.MAY_CROSS].tolist() == [1, 0]
    assert tokens[:2, tables.SAVING] == pytest.approx(6 / 56)
    assert tokens[:2, tables.SINCE_USE].tolist() == [1, 1]
    assert tokens[:2, tables.IN_SLOW].tolist() == [1, 1]
    assert not tokens[2:].any()


def test_demand_is_what_a_copy_takes_against_the_idle_time_there_is_for_it() -> None:
    """8 s within the 40 s before; a whole write demands none."""
    tokens = seen_after(HIDDEN).tokens
    assert tokens[:2, tables.DEMAND] == pytest.approx([8 / 48, 0])
    hasty = problem((W, OUT), (reads(0), writes(1)))
    assert seen_after(hasty).tokens[0, tables.DEMAND] == 1


def test_what_is_decided_changes_what_an_access_saves() -> None:
    """Once the weight is in fast memory, the computation hides the slow write."""
    hidden = problem((W, OUT), (), (reads(0), writes(1)), compute={0: 20.0, 1: 9.0})
    assert seen_after(hidden).tokens[1, tables.SAVING_NOW] > 0
    before, after = (seen_after(hidden, x).tokens[0] for x in (DROP, COPY))
    assert before[tables.SAVING_NOW] == before[tables.LOG_SAVING]
    assert 0 < after[tables.SAVING_NOW] < after[tables.LOG_SAVING]


def test_tokens_tell_where_a_buffer_is_and_what_becomes_of_it() -> None:
    """The donated buffer, once it is updated there, has to be copied back."""
    where = [tables.IN_SLOW, tables.IS_CLEAN, tables.TO_EVICT]
    slow = seen_after(DONATED_BUFFER, DROP).tokens[0]
    dirty = seen_after(DONATED_BUFFER, DROP, COPY).tokens[0]
    clean = seen_after(DONATED_BUFFER, COPY, DROP, DROP).tokens[0]
    assert [x[where].tolist() for x in (slow, dirty, clean)] == [
        [1, 0, 0],
        [0, 0, 1],
        [0, 1, 0],
    ]
    assert seen_after(DONATED_BUFFER).tokens[1, tables.IS_IN_PLACE] == 1


def test_tokens_tell_of_loops_and_of_accesses_served_already() -> None:
    """w, copied to be there for the whole loop, is read in each of four trips."""
    tokens = seen_after(LOOP_AND_CHAIN, DROP).tokens
    assert tokens[:3, tables.LOOPING] == pytest.approx(np.log10(4) / 6)
    assert not tokens[:, tables.IS_SERVED].any()
    position, observer = begin(NAMED["a value carried by a loop"])
    served = 0
    while not position.is_terminal:
        mask = position.mask().tolist()
        seen = observer.observe(position).tokens[0, tables.IS_SERVED]
        served += int(seen)
        assert seen == (mask == [True, False, False])
        position.apply(mask.index(True))
    assert served


def test_the_present_token_tells_what_is_legal_and_no_other_one() -> None:
    position, observer = begin(NAMED["a loop over weights"])
    for one in positions(position, 3):
        tokens, mask = observer.observe(one).tokens, one.mask().tolist()
        assert tokens[0, tables.LEGAL :].astype(bool).tolist() == mask
        assert not tokens[1:, tables.LEGAL :].any()


def test_the_summary_adds_up_what_is_decided() -> None:
    """Copy saves 6 s of 56; the output goes to fast memory, and waits to be evicted."""
    summary = seen_after(HIDDEN, COPY).summary
    assert summary[tables.PROGRESS] == 0.5
    assert summary[tables.SCHEDULE] == pytest.approx(2 / 3)
    assert summary[tables.LOAD_NOW] == summary[tables.PEAK_LOAD] == 8 / 32
    assert summary[tables.SAVED] == pytest.approx(6 / 56)
    assert summary[tables.LEAST_TIME] == pytest.approx(44 / 56)
    assert summary[tables.ROOMINESS] == pytest.approx(32 / 48)
    assert summary[tables.PRESSURE_NOW] == pytest.approx(16 / 48)
    assert summary[[tables.IS_CYCLES, tables.MAY_WAIT, tables.MAY_SHIFT]].tolist() == [
        0,
        0,
        0,
    ]
    end = seen_after(HIDDEN, COPY, DROP).summary
    assert end[[tables.PROGRESS, tables.SCHEDULE]].tolist() == [1, 1]


def test_stalls_count_as_shares_of_the_time() -> None:
    """The output, written to fast memory last, is copied back while nothing runs."""
    summary = seen_after(HIDDEN, DROP, STAY).summary
    assert summary[tables.STALLED] == pytest.approx(8 / 56)


def test_the_previous_run_leaves_as_much_as_it_may() -> None:
    early = problem((W, OUT), (reads(0), writes(1)), (), compute={1: 30.0})
    used = [seen_after(early, x).summary[tables.CROSSES_USED] for x in (DROP, COPY)]
    assert used == [0, 1]
    never = replace(early, target=target(cross_program_prefetches=0))
    assert seen_after(never).summary[tables.CROSSES_USED] == 1


def test_programs_without_times_or_accesses_can_be_looked_at() -> None:
    empty = Instruction("empty")
    free = Instruction("free", accesses=(Access(0, whole=True),))
    buffers = (Buffer("b", 8),)
    for program in (
        Program("nothing", (empty,), ()),
        Program("free", (free, empty), buffers, (Loop(0, 1, 0),)),
        Program("long", (free, empty), buffers, (Loop(0, 2, 2**52), Loop(1, 2, 2**52))),
    ):
        position, observer = begin(Problem(program, target()))
        for one in positions(position, 0):
            assert all(np.isfinite(x).all() for x in observer.observe(one))


def test_spans_of_time_reach_both_ends_and_none_is_empty() -> None:
    for length in (1, 2, 8, 24, 25, 500, 100_000):
        for config in (FINE, ObservationConfig()):
            around = edges(length, config)
            assert len(around) == config.spans + 1
            assert around[config.past] == 0
            assert around[0] <= -length
            assert around[-1] >= length
            assert (np.diff(around) > 0).all()


def test_an_observation_is_written_into_arrays_of_others() -> None:
    position, observer = begin(HIDDEN)
    batch = Observation(*(np.ones((3, *x), np.float32) for x in observer.shapes))
    observer.observe_into(position, Observation(*(x[1] for x in batch)))
    for array, alone in zip(batch, observer.observe(position), strict=True):
        assert np.array_equal(array[1], alone)
        assert (array[[0, 2]] == 1).all()


@pytest.mark.parametrize(
    "wrong",
    [np.zeros((6, 7), np.float32), np.zeros((6, 8)), np.zeros((8, 6), np.float32).T],
    ids=["shape", "type", "order"],
)
def test_arrays_of_another_kind_are_refused(wrong: np.ndarray) -> None:
    position, observer = begin(HIDDEN)
    seen = observer.observe(position)._replace(supply=wrong)
    with pytest.raises(
        ValueError, match=r"supply: expected contiguous float32 of shape"
    ):
        observer.observe_into(position, seen)


def test_a_position_of_another_game_is_refused() -> None:
    _, observer = begin(HIDDEN)
    position, _ = begin(HIDDEN)
    with pytest.raises(ValueError, match="not of the game"):
        observer.observe(position)


@pytest.mark.parametrize("name", ["past", "future", "rows", "tokens"])
def test_nothing_is_observed_without_any_parts(name: str) -> None:
    sizes: dict[str, Any] = {name: 0}
    with pytest.raises(ValueError, match=f"{name} 0 is not at least 1"):
        ObservationConfig(**sizes)
