"""What a model says, checked before it is believed."""

from __future__ import annotations

import numpy as np

from hybridalloc.agents.muzero.model import Bools, Evaluation, Expansion


def checked(
    evaluation: Evaluation,
    shape: tuple[int, ...],
    where: str,
    ended: Bools | None = None,
) -> Evaluation:
    """An evaluation as the search needs it.

    Args:
        evaluation: Of any numeric types.
        shape: (positions, actions).
        where: What the positions are, for messages.
        ended: (positions,): where the evaluation does not matter.

    Raises:
        ValueError: Shapes differ, something is not finite, or nothing is legal.
    """
    logits = np.asarray(evaluation.logits, dtype=np.float64)
    values = np.asarray(evaluation.values, dtype=np.float64)
    masks = np.asarray(evaluation.masks, dtype=np.bool_)
    if len(shape) != 2 or (logits.shape, masks.shape) != (shape, shape):
        raise ValueError(
            f"search: {where}: logits {logits.shape} and masks {masks.shape} are not "
            f"both of shape {shape} (positions, actions)"
        )
    if values.shape != shape[:1]:
        raise ValueError(f"search: {where}: values {values.shape} are not {shape[:1]}")
    matters = np.ones(shape[:1], np.bool_) if ended is None else ~ended
    stuck = np.flatnonzero(matters & ~masks.any(axis=1))
    if stuck.size:
        raise ValueError(f"search: {where} {stuck[0]}: no action is legal")
    finite = np.isfinite(values) & (np.isfinite(logits) | ~masks).all(axis=1)
    wrong = np.flatnonzero(matters & ~finite)
    if wrong.size:
        raise ValueError(
            f"search: {where} {wrong[0]}: value {values[wrong[0]]} or logits "
            f"{logits[wrong[0]].tolist()} are not finite"
        )
    return Evaluation(logits, values, masks)


def checked_expansion(expansion: Expansion, shape: tuple[int, int]) -> Expansion:
    """An expansion as the search needs it, with ``shape`` and errors as above."""
    rewards = np.asarray(expansion.rewards, dtype=np.float64)
    terminal = np.asarray(expansion.terminal, dtype=np.bool_)
    if (rewards.shape, terminal.shape) != (shape[:1], shape[:1]):
        raise ValueError(
            f"search: step: rewards {rewards.shape} and terminal {terminal.shape} are "
            f"not both of shape {shape[:1]}"
        )
    wrong = np.flatnonzero(~np.isfinite(rewards))
    if wrong.size:
        raise ValueError(
            f"search: step {wrong[0]}: reward {rewards[wrong[0]]} is not finite"
        )
    evaluation = checked(expansion.evaluation, shape, "step", terminal)
    return Expansion(rewards, terminal, evaluation)
