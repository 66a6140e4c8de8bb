"""What is known of each access beforehand."""

from __future__ import annotations

import math

import numpy as np

from hybridalloc.arrays import Floats
from hybridalloc.cost_model import compile_costs, elapsed
from hybridalloc.game.game import Game, Step
from hybridalloc.game.growth import NONE
from hybridalloc.game.observation.scales import DECADES, log_distances, log_share
from hybridalloc.game.observation.tables import (
    FIXED_FEATURES,
    IS_ACCESS,
    IS_IN_PLACE,
    IS_INPUT,
    IS_OUTPUT,
    IS_WHOLE,
    LOG_SAVING,
    LOG_SIZE,
    LOOPING,
    MAY_CROSS,
    SAVING,
    SAVING_LATER,
    SAVING_TOGETHER,
    SINCE_USE,
    SIZE,
    TRAFFIC,
    UNTIL_LAST_USE,
    UNTIL_USE,
)
from hybridalloc.game.rewards import benefits


def fixed_tokens(game: Game, per_second: float) -> Floats:
    """(steps, FIXED_FEATURES): the features of each access that never change.

    Args:
        game: Which.
        per_second: What turns seconds into shares of the program's time.
    """
    tokens = np.zeros((len(game.steps), FIXED_FEATURES))
    far = log_distances(len(game.problem.program))
    for token, step in zip(tokens, game.steps, strict=True):
        token[IS_ACCESS] = 1
        _describe_buffer(token, game, step)
        _describe_access(token, game, step)
        _place_in_time(token, game, step, far)
    _tell_savings(tokens, game, per_second)
    return tokens


def _describe_buffer(token: Floats, game: Game, step: Step) -> None:
    buffer = game.problem.program.buffers[step.buffer]
    token[SIZE] = buffer.size / game.problem.target.capacity
    token[LOG_SIZE] = log_share(token[SIZE])
    token[IS_INPUT], token[IS_OUTPUT] = buffer.is_input, buffer.is_output


def _describe_access(token: Floats, game: Game, step: Step) -> None:
    program = game.problem.program
    size = program.buffers[step.buffer].size
    access = program.uses[step.buffer][step.use].access
    traffic = access.read_bytes + access.write_bytes
    token[TRAFFIC] = traffic / (traffic + size)
    token[IS_WHOLE] = access.whole
    token[IS_IN_PLACE] = access.writes and access.read_bytes > 0
    trips = program.multiplicity[step.instruction]
    token[LOOPING] = min(1.0, math.log10(max(1, trips)) / DECADES)
    token[MAY_CROSS] = game.growth.crossed[game.use(step)] != NONE


def _place_in_time(token: Floats, game: Game, step: Step, far: Floats) -> None:
    """How far off the other accesses of the buffer are; 1 where there is none."""
    uses, now = game.problem.program.uses[step.buffer], step.instruction
    token[SINCE_USE] = token[UNTIL_USE] = 1
    if step.use > 0:
        token[SINCE_USE] = far[now - uses[step.use - 1].instruction]
    if step.use + 1 < len(uses):
        token[UNTIL_USE] = far[uses[step.use + 1].instruction - now]
    token[UNTIL_LAST_USE] = far[uses[-1].instruction - now]


def _tell_savings(tokens: Floats, game: Game, per_second: float) -> None:
    """What fast memory saves: for an access, its instruction, its buffer from it on."""
    problem, saved = game.problem, benefits(game) * per_second
    runs = compile_costs(problem).runs
    later = np.zeros(len(problem.program.buffers))
    for i in reversed(range(len(game.steps))):
        t, token = game.steps[i].instruction, tokens[i]
        later[game.steps[i].buffer] += saved[i]
        token[SAVING] = min(1.0, max(-1.0, saved[i]))
        token[LOG_SAVING] = log_share(saved[i])
        token[SAVING_LATER] = log_share(later[game.steps[i].buffer])
        accessed = [x.buffer for x in problem.program.instructions[t].accesses]
        together_s = elapsed(problem, t, ()) - elapsed(problem, t, accessed)
        token[SAVING_TOGETHER] = log_share(together_s * runs[t] * per_second)
