"""Readable playthroughs of a game: what was decided, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest

from hybridalloc.game.action import Action
from hybridalloc.game.advice import Option
from hybridalloc.game.game import Game
from hybridalloc.game.held import Held, Holding
from hybridalloc.game.state import State
from hybridalloc.memory_map import Allocation, Origin
from hybridalloc.program import Access

Choice = Action | Option
Chooser = Callable[[State], Choice]
"""What to do in a position."""


@dataclass(frozen=True, slots=True)
class Move:
    """One action or option, from a position to another."""

    state: State
    action: Choice
    reached: State
    """After Drop-backup, if that was needed."""


def play(game: Game, actions: Iterable[Choice] | Chooser) -> Iterator[Move]:
    """Play a game, until it ends or no action is left.

    Args:
        game: From its first position on.
        actions: One after the other; or what chooses them.
    """
    state = State.begin(game)
    choose = actions if callable(actions) else _in_order(actions)
    while not state.is_terminal and (action := choose(state)) is not None:
        move = Move(state, action, state.apply(action))
        yield move
        state = move.reached


def transcript(
    game: Game, actions: Iterable[Choice] | Chooser, moves: int | None = None
) -> str:
    """A game as text: each move, its reward, and what the environment chose.

    Args:
        game: From its first position on.
        actions: As for ``play``.
        moves: The most moves to tell of.
    """
    state = State.begin(game)
    lines = [*_opening(game, state)]
    for move in islice(play(game, actions), moves):
        lines += ["", *_move(game, move)]
        state = move.reached
    return "\n".join([*lines, "", *_close(game, state), ""])


def _in_order(actions: Iterable[Choice]) -> Callable[[State], Choice | None]:
    left = iter(actions)
    return lambda _: next(left, None)


def _opening(game: Game, state: State) -> Iterator[str]:
    """What is played."""
    problem, config = game.problem, game.config
    program, target = problem.program, problem.target
    yield (
        f"program {program.name}: {len(program)} instructions, "
        f"{len(program.buffers)} buffers, {len(game.steps)} steps"
    )
    for loop in program.loops:
        yield f"loop: [{loop.start}, {loop.end}), {loop.trip_count} trips"
    yield (
        f"target {target.name}: {target.capacity} bytes of fast memory, "
        f"cost model {problem.cost_model}"
    )
    yield f"waits: {config.waits}, shifts: {config.shifts}"
    yield f"all in slow memory: {_us(state.time_s)}"


def _move(game: Game, move: Move) -> Iterator[str]:
    """What was to be decided, what was done, and what that led to."""
    before, name_of = move.state, game.advice.name_of
    yield f"step {before.step}: {_access(game, before)}"
    yield "  legal: " + ", ".join(map(name_of, before.legal_actions))
    if before.legal_options:
        yield "  may follow: " + ", ".join(_advised(game, before))
    if isinstance(move.action, Action):
        yield from _decision(game, before, move.action, move.reached)
        return
    yield f"  {name_of(move.action)}: {_us(move.reached.returns - before.returns)}"
    for action, reached in before.following(move.action):
        if before is not move.state:
            yield f"step {before.step}: {_access(game, before)}"
        yield from _decision(game, before, action, reached)
        before = reached


def _advised(game: Game, state: State) -> Iterator[str]:
    """Who may be followed, and what each would do now."""
    advice = game.advice
    for option in state.legal_options:
        if not option.until_next:
            action = Action(advice.lines[option.heuristic, state.step])
            yield f"{advice.names[option.heuristic]} ({action.name})"


def _decision(game: Game, before: State, action: Action, after: State) -> Iterator[str]:
    """What one action led to."""
    own, *backups = after.rewards[len(before.rewards) :]
    yield f"  {action.name}: {_us(own)}"
    decided = before.after[action]
    yield from _changes(game, before.holding, decided)
    if backups:
        dropped = after.before or before
        name = game.problem.program.buffers[game.steps[dropped.step].buffer].name
        times = f" ({len(backups)} in a row)" if len(backups) > 1 else ""
        yield (
            f"  backup{times}: back to step {dropped.step}, buffer {name} is dropped "
            f"there: {', '.join(map(_us, backups))}"
        )
        decided = dropped.after[Action.DROP]
        yield from _changes(game, dropped.holding, decided)
    if after.is_terminal and decided is not after.holding:
        yield "  the program ends"
        yield from _changes(game, decided, after.holding)


def _access(game: Game, state: State) -> str:
    """The access of a step in words."""
    step, program = game.steps[state.step], game.problem.program
    access = program.uses[step.buffer][step.use].access
    instruction = program.instructions[step.instruction]
    buffer = program.buffers[step.buffer]
    kinds = [("input", buffer.is_input), ("output", buffer.is_output)]
    names = "".join(f", {name}" for name, is_so in kinds if is_so)
    return (
        f"instruction {step.instruction} ({instruction.name}) {_does(access)} "
        f"{buffer.name} ({buffer.size} bytes{names})"
    )


def _does(access: Access) -> str:
    if access.whole:
        return "writes all of"
    read = f"reads {access.read_bytes} bytes of"
    written = f"writes {access.write_bytes} bytes of"
    if access.read_bytes and access.write_bytes:
        return f"{read.removesuffix(' of')} and {written}"
    return written if access.write_bytes else read


def _changes(game: Game, before: Holding, after: Holding) -> Iterator[str]:
    """What the environment has chosen."""
    for old, new in zip_longest(before.held, after.held):
        if old is None:
            yield from (f"    {_allocated(game, x)}" for x in new.allocations)
        elif old is not new:
            what = f"    {game.problem.program.buffers[new.head.buffer].name} "
            yield from (what + change for change in _changed(old, new))


def _changed(old: Held, new: Held) -> Iterator[str]:
    if old.offset != new.offset:
        yield f"is shifted from offset {old.offset} to {new.offset}"
    if len(old.allocations) > len(new.allocations):
        yield "needs no copy for the next run"
    if old.head.end != new.head.end:
        yield f"stays until {new.head.end}"
    if (eviction := new.head.eviction) and not old.head.eviction:
        yield f"is evicted, issued at {eviction.issue}, due at {eviction.due}"


def _allocated(game: Game, x: Allocation) -> str:
    """An allocation in words."""
    name = game.problem.program.buffers[x.buffer].name
    begun = f"written at {x.start}"
    if x.has_copy:
        begun = f"copied, issued at {x.start}, due at {x.ready}"
    elif x.origin is Origin.CROSS_PROGRAM:
        begun = "left by the previous run"
    ended = f"until {x.end}"
    if x.eviction:
        ended += f", evicted, issued at {x.eviction.issue}, due at {x.eviction.due}"
    return f"{name} at offset {x.offset}: {begun}, {ended}"


def _close(game: Game, state: State) -> Iterator[str]:
    """What has come of the game; the map if it has ended."""
    what = "end" if state.is_terminal else f"before step {state.step}"
    yield f"{what}: {_us(state.time_s)}, {_us(state.returns)} saved"
    if state.is_terminal:
        for allocation in state.memory_map().allocations:
            yield f"  {_allocated(game, allocation)}"


def _us(seconds: float) -> str:
    """Microseconds, never a negative zero."""
    return f"{round(seconds * 1e6, 3) + 0.0:.3f} us"
