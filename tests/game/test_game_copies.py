"""When the game issues copies, and by when they are due: worked out by hand.

Slow memory moves 1 byte a second, fast memory 4: of a buffer of 8 bytes an access takes
8 seconds or 2.
"""

from __future__ import annotations

import pytest
from game_cases import (
    COPY,
    DROP,
    LOOP_AND_CHAIN,
    NO_CROSS,
    STAY,
    game_of,
    map_of,
    played,
)
from named_problems import (
    DONATED,
    OUT,
    W,
    X,
    Y,
    problem,
    reads,
    target,
    updates,
    writes,
)

from hybridalloc.game import Game, State
from hybridalloc.memory_map import Allocation, Eviction, Origin
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer, Loop
from hybridalloc.target import CopyEngine

IDLE = ()
FETCHED, LEFT = Origin.PREFETCHED, Origin.CROSS_PROGRAM


def weight(first_s: float, second_s: float, reads_of_it: int = 1) -> Problem:
    """A weight read behind two instructions of so many seconds."""
    return problem(
        (W,),
        IDLE,
        IDLE,
        *[(reads(0),)] * reads_of_it,
        compute={0: first_s, 1: second_s},
        machine=NO_CROSS,
    )


@pytest.mark.parametrize(
    ("first_s", "second_s", "issue"), [(9, 9, 1), (0, 8, 1), (9, 7, 0), (1, 7, 0)]
)
def test_a_copy_is_issued_at_the_latest_point_without_a_longer_stall(
    first_s: float, second_s: float, issue: int
) -> None:
    state = played(Game(weight(first_s, second_s)), COPY)
    assert map_of(state) == (Allocation(0, 0, issue, 3, FETCHED, ready=2),)
    assert state.rewards == (6,)


def test_a_copy_that_cannot_be_in_time_is_masked() -> None:
    assert State.begin(Game(weight(1, 6))).legal_actions == (DROP,)


def test_a_copy_makes_none_decided_earlier_late() -> None:
    """Both take 8 seconds: in 16 of them there is time for both, in 15 for one."""
    for seconds, issues in ((16, [0, 0]), (15, [0])):
        given_one = problem(
            (W, Buffer("v", 8, is_input=True)),
            IDLE,
            (reads(0), reads(1)),
            compute={0: seconds},
            machine=NO_CROSS,
        )
        state = played(Game(given_one), COPY)
        if COPY in state.legal_actions:
            state = state.apply(COPY)
        assert [x.start for x in map_of(state)] == issues


def test_a_copy_may_be_waited_for_where_that_saves_more_than_it_costs() -> None:
    """A wait of 8 seconds for one access saves 6 of them, and for two 12."""
    once, twice = (game_of(weight(0, 0, n), waits=True) for n in (1, 2))
    assert State.begin(once).legal_actions == (DROP,)
    assert State.begin(game_of(weight(0, 0, 2))).legal_actions == (DROP,)
    state = played(twice, COPY, STAY)
    assert map_of(state) == (Allocation(0, 0, 2, 4, FETCHED, ready=2),)
    assert state.rewards == (-2, 6)


def test_a_copy_that_is_waited_for_uses_what_idle_time_there_is() -> None:
    """Of 8 seconds, 3 + 4 pass before it is needed: it waits for 1."""
    state = played(game_of(weight(3, 4), waits=True), COPY)
    assert map_of(state) == (Allocation(0, 0, 0, 3, FETCHED, ready=2),)
    assert state.rewards == (5,)


def test_no_more_copies_are_outstanding_than_the_engine_allows() -> None:
    engine = CopyEngine(max_outstanding_prefetches=1)
    given_one = problem(
        (W, Buffer("v", 8, is_input=True)),
        IDLE,
        (reads(0), reads(1)),
        compute={0: 40.0},
        machine=target(engine=engine, cross_program_prefetches=0),
    )
    assert played(Game(given_one), COPY).legal_actions == (DROP,)
    assert played(Game(given_one), DROP).legal_actions == (COPY, DROP)


@pytest.mark.parametrize(("first_s", "due"), [(8, 2), (4, 3), (9, 2)])
def test_what_is_dropped_is_copied_back_by_the_earliest_point_without_a_stall(
    first_s: float, due: int
) -> None:
    given_one = problem(
        (X,), (writes(0),), IDLE, IDLE, (reads(0),), compute={1: first_s, 2: 30.0}
    )
    state = played(Game(given_one), STAY, DROP)
    assert map_of(state) == (Allocation(0, 0, 0, due, eviction=Eviction(1, due)),)
    assert state.rewards == (6, 0)


def test_what_is_overwritten_next_is_not_copied_back() -> None:
    given_one = problem((X,), (writes(0),), (writes(0),))
    assert map_of(played(Game(given_one), STAY, DROP)) == (Allocation(0, 0, 0, 1),)


def test_a_copy_back_and_a_copy_there_again_bridge_a_gap() -> None:
    given_one = problem(
        (X,), (writes(0),), IDLE, IDLE, IDLE, (reads(0),), compute={1: 8, 3: 8}
    )
    state = played(Game(given_one), STAY, COPY)
    assert map_of(state) == (
        Allocation(0, 0, 0, 2, eviction=Eviction(1, 2)),
        Allocation(0, 0, 3, 5, FETCHED, ready=4),
    )
    assert state.rewards == (6, 6)


def test_outputs_are_copied_back_at_the_end() -> None:
    given_one = problem((OUT,), (writes(0),), IDLE, IDLE, compute={1: 4, 2: 8})
    state = played(Game(given_one), STAY)
    assert map_of(state) == (Allocation(0, 0, 0, 3, eviction=Eviction(1, 3)),)
    assert state.rewards == (6,)


def test_a_copy_for_a_loop_is_made_before_it() -> None:
    state = played(Game(LOOP_AND_CHAIN), DROP, COPY)
    assert map_of(state) == (Allocation(1, 0, 0, 3, FETCHED, ready=1),)
    assert state.rewards == (0, 24)


def test_a_copy_within_a_loop_is_made_in_each_trip() -> None:
    """The loop's first instruction has the time for it."""
    given_one = problem(
        (W,),
        IDLE,
        IDLE,
        (reads(0),),
        compute={0: 20.0, 1: 20.0},
        loops=(Loop(1, 3, trip_count=4),),
        machine=NO_CROSS,
    )
    state = played(Game(given_one), COPY)
    assert map_of(state) == (Allocation(0, 0, 1, 3, FETCHED, ready=2),)
    assert state.rewards == (24,)


def test_a_copy_across_a_loop_is_issued_before_it() -> None:
    """In the loop it would be issued in each trip."""
    given_one = problem(
        (W,),
        IDLE,
        IDLE,
        IDLE,
        (reads(0),),
        compute={2: 8.0},
        loops=(Loop(1, 3, trip_count=4),),
        machine=NO_CROSS,
    )
    state = played(Game(given_one), COPY)
    assert map_of(state) == (Allocation(0, 0, 1, 4, FETCHED, ready=3),)


def test_a_copy_back_across_a_loop_is_due_after_it() -> None:
    """Though the first trip of instruction 1 has the time for it."""
    given_one = problem(
        (X,),
        (writes(0),),
        IDLE,
        IDLE,
        (reads(0),),
        compute={1: 8.0},
        loops=(Loop(1, 3, trip_count=4),),
    )
    eviction = Eviction(1, 3)
    expected = (Allocation(0, 0, 0, 3, eviction=eviction),)
    assert map_of(played(Game(given_one), STAY, DROP)) == expected


def test_a_copy_back_is_due_before_its_place_is_taken() -> None:
    """Then it stalls for 4 seconds; by 3, it would be done."""
    given_one = problem(
        (X, Y),
        (writes(0),),
        IDLE,
        (writes(1),),
        (reads(0),),
        compute={1: 4.0, 2: 40.0},
        machine=target(8),
    )
    state = played(Game(given_one), STAY, STAY, DROP)
    evicted, _ = map_of(state)
    assert evicted == Allocation(0, 0, 0, 2, eviction=Eviction(1, 2))
    assert state.rewards == (6, 0, -4)


def test_what_is_copied_back_is_copied_there_again_only_after_that() -> None:
    """Instruction 1 has the time for both, but one comes after the other."""
    given_one = problem((X,), (writes(0),), IDLE, (reads(0),), compute={1: 40.0})
    assert played(Game(given_one), STAY).legal_actions == (STAY, DROP)


def test_at_the_end_that_is_copied_back_first_which_may_be_first() -> None:
    """The later one, issued at 2, is one too many: Drop-backup drops it.

    Copied back first, it would have left the other one the time until 2.
    """
    outputs = (
        Buffer("later", 8, is_output=True, offset=8),
        Buffer("first", 8, is_output=True),
    )
    given_one = problem(
        outputs,
        (writes(1),),
        (writes(0),),
        IDLE,
        compute={1: 6.0, 2: 12.0},
        machine=target(engine=CopyEngine(max_outstanding_evictions=1)),
    )
    state = played(Game(given_one), STAY, STAY)
    assert state.is_terminal
    assert len(state.rewards) == 3
    assert [(x.buffer, x.eviction) for x in map_of(state)] == [(1, Eviction(1, 3))]


def first_read(last_s: float, *later: int) -> Problem:
    """A weight read at 0 and at later points; the last instruction takes its time."""
    steps = [(reads(0),), IDLE, IDLE, IDLE]
    for t in later:
        steps[t] = (reads(0),)
    return problem((W,), *steps, compute={3: last_s})


def test_what_is_read_first_is_left_there_by_the_previous_run() -> None:
    """And is copied for the next one in the last instruction, which has the time."""
    state = played(Game(first_read(8)), COPY)
    expected = Allocation(0, 0, 0, 1, LEFT), Allocation(0, 0, 3, 4, LEFT, ready=4)
    assert map_of(state) == expected
    assert state.rewards == (6,)


def test_what_cannot_be_copied_for_the_next_run_is_held_all_the_time() -> None:
    state = played(Game(first_read(7)), COPY)
    assert map_of(state) == (Allocation(0, 0, 0, 4, LEFT),)
    assert state.rewards == (6,)
    held = State.begin(Game(first_read(7, 2))).legal_actions
    assert held == (DROP,)  # it would serve the read at 2


def test_what_stays_on_up_to_the_copy_for_the_next_run_needs_none() -> None:
    """The copy is made in the last instruction, which reads w too."""
    state = played(Game(first_read(16, 3)), COPY, STAY)
    assert map_of(state) == (Allocation(0, 0, 0, 4, LEFT),)


def test_what_stays_on_until_the_copy_for_the_next_run_needs_none_either() -> None:
    state = played(Game(first_read(8, 2)), COPY, STAY)
    assert map_of(state) == (Allocation(0, 0, 0, 4, LEFT),)


def test_what_is_read_again_behind_the_copy_for_the_next_run_stays_on_to_none() -> None:
    """Unless that is its last access: what is read at 5 would come to be served too."""
    steps = (reads(0),), IDLE, IDLE, IDLE, (reads(0),)
    last = Game(problem((W,), *steps, compute={3: 8.0}))
    assert STAY in played(last, COPY).legal_actions
    more = Game(problem((W,), *steps, (reads(0),), compute={3: 8.0}))
    assert map_of(played(more, COPY))[1].start == 3
    assert STAY not in played(more, COPY).legal_actions


def test_only_what_is_read_first_can_have_been_left_there() -> None:
    assert played(Game(first_read(8, 2)), DROP).legal_actions == (DROP,)


def test_no_more_is_left_for_the_next_run_than_the_target_allows() -> None:
    steps = (reads(0), reads(1)), IDLE, IDLE
    weights = W, Buffer("v", 8, is_input=True)
    for most, legal in ((0, (DROP,)), (1, (DROP,)), (2, (COPY, DROP))):
        machine = target(cross_program_prefetches=most)
        game = Game(problem(weights, *steps, compute={2: 40.0}, machine=machine))
        assert State.begin(game).legal_actions == ((COPY, DROP) if most else (DROP,))
        assert played(game, COPY if most else DROP).legal_actions == legal


def test_what_an_output_takes_over_is_never_left_there() -> None:
    given_one = problem((DONATED,), (reads(0),), (updates(0),), IDLE, compute={2: 40.0})
    assert State.begin(Game(given_one)).legal_actions == (DROP,)
