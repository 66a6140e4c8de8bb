"""Playthroughs of games as text, some of them written down once.

Whoever changes the rules on purpose renews these with
``PYTHONPATH=tests python tests/game/test_transcript.py`` and explains the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from game_cases import (
    COPY,
    DONATED_BUFFER,
    DROP,
    FRAGMENTED,
    LOOP_AND_CHAIN,
    NO_EVICTIONS,
    STAY,
    played,
)
from named_problems import CHAIN, OUT, problem, target, writes

from hybridalloc.game import Action, Game, GameConfig, State
from hybridalloc.game.transcript import play, transcript
from hybridalloc.io.read import read_problem
from hybridalloc.problem import Problem
from hybridalloc.program import Buffer
from hybridalloc.target import MIB, CopyEngine

GOLDEN = Path(__file__).parents[1] / "golden"
WORKLOADS = Path(__file__).parents[2] / "examples" / "workloads"


def first(state: State) -> Action:
    """Without a copy if that is legal, or else with one, or else dropped."""
    return state.legal_actions[0]


def in_microseconds(given: Problem, name: str) -> Problem:
    """The same problem a million times as fast, and by another name."""
    steps = tuple(
        replace(x, compute_s=x.compute_s * 1e-6) for x in given.program.instructions
    )
    spaces = tuple(
        replace(
            x,
            read_bandwidth=x.read_bandwidth * 1e6,
            write_bandwidth=x.write_bandwidth * 1e6,
        )
        for x in given.target.spaces
    )
    program = replace(given.program, instructions=steps, name=name)
    return replace(given, program=program, target=replace(given.target, spaces=spaces))


def loop_and_chain() -> str:
    return transcript(Game(in_microseconds(LOOP_AND_CHAIN, "loop and chain")), first)


def donated_buffer() -> str:
    """Under the extended rules, and dropped in between."""
    given = in_microseconds(DONATED_BUFFER, "donated buffer")
    game = Game(given, GameConfig(waits=True, shifts=True))
    return transcript(game, [COPY, COPY, DROP, COPY])


def drop_backup() -> str:
    return transcript(Game(in_microseconds(NO_EVICTIONS, "drop-backup")), first)


def real_program() -> str:
    """The first 30 steps of a real program, in 8 MiB of fast memory."""
    given = read_problem(WORKLOADS / "gcn3_train_n4096", cost_model="cycles")
    game = Game(given.with_capacity(8 * MIB), GameConfig(waits=True, shifts=True))
    return transcript(game, first, moves=30)


PLAYTHROUGHS: dict[str, Callable[[], str]] = {
    "game_loop_and_chain.txt": loop_and_chain,
    "game_donated_buffer.txt": donated_buffer,
    "game_drop_backup.txt": drop_backup,
    "game_gcn3_train_n4096.txt": real_program,
}


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_a_playthrough_is_the_one_written_down(name: str) -> None:
    assert PLAYTHROUGHS[name]() == (GOLDEN / name).read_text(encoding="utf-8")


def test_a_game_is_played_until_it_ends_or_no_action_is_left() -> None:
    game = Game(CHAIN)
    assert [x.reached.step for x in play(game, [DROP, STAY])] == [1, 2]
    moves = list(play(game, [DROP] * 9))
    assert [x.state.step for x in moves] == [0, 1, 2, 3, 4, 5]
    assert moves[-1].reached.is_terminal
    assert moves[-1].action is DROP


def test_a_move_leads_to_where_drop_backup_has_led() -> None:
    last = list(play(Game(NO_EVICTIONS), [STAY, STAY]))[-1]
    assert (last.state.step, last.reached.step) == (1, 1)
    assert last.reached.rewards == played(Game(NO_EVICTIONS), STAY, STAY).rewards


def test_an_illegal_action_is_refused() -> None:
    with pytest.raises(ValueError, match="action COPY is not legal"):
        transcript(Game(CHAIN), [DROP, COPY])


def test_a_playthrough_that_breaks_off_says_where() -> None:
    text = transcript(Game(in_microseconds(CHAIN, "chain")), [DROP, STAY])
    assert text.endswith("\nbefore step 2: 42.000 us, 6.000 us saved\n")
    assert "step 1:" in text
    assert "step 2: " not in text.replace("before step 2: ", "")


def test_who_is_shifted_is_told() -> None:
    game = Game(in_microseconds(FRAGMENTED, "fragmented"), GameConfig(shifts=True))
    text = transcript(game, [STAY] * 5)
    assert "    y is shifted from offset 8 to 16\n    large at offset 0: " in text


def test_several_backups_in_a_row_are_told_together() -> None:
    """Neither output can be copied back; that decided last is found out first."""
    machine = target(engine=CopyEngine(max_outstanding_evictions=0))
    outputs = OUT, Buffer("other", 8, is_output=True)
    given = problem(outputs, (writes(1), writes(0)), machine=machine)
    text = transcript(Game(in_microseconds(given, "two")), [STAY, STAY])
    assert (
        "  backup (2 in a row): back to step 0, buffer other is dropped there: "
        "-6.000 us, -6.000 us\n"
    ) in text
    assert text.endswith("\nbefore step 1: 16.000 us, 0.000 us saved\n")


if __name__ == "__main__":
    for name, made in PLAYTHROUGHS.items():
        (GOLDEN / name).write_text(made(), encoding="utf-8")
