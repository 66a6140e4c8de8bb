"""What mctx, if it is installed, makes of a table."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from table_model import Table

from hybridalloc.agents.muzero.search import SearchConfig, SearchResult
from hybridalloc.arrays import Floats

LOWEST = -1e30
"""The logit of an illegal action: mctx has no masks but at the root."""


def answer(
    table: Table, states: Sequence[int], config: SearchConfig, scale: float, seed: int
) -> tuple[SearchResult, Floats]:
    """The answer of mctx, and the noise of this scale that its seed draws at roots."""
    jax, mctx = importlib.import_module("jax"), importlib.import_module("mctx")
    jax.config.update("jax_enable_x64", True)
    key = jax.random.PRNGKey(seed)
    shape = len(states), table.masks.shape[1]
    noise = jax.random.gumbel(jax.random.split(key)[1], shape, dtype=np.float64)
    roots = np.array(states)
    logits = np.where(table.masks, table.logits, LOWEST)
    said = mctx.gumbel_muzero_policy(
        None,
        key,
        mctx.RootFnOutput(
            prior_logits=logits[roots], value=table.values[roots], embedding=roots
        ),
        _step_of(table, jax.numpy, mctx),
        config.simulations,
        invalid_actions=~table.masks[roots],
        qtransform=_qtransform(config, mctx),
        max_num_considered_actions=config.considered_actions,
        gumbel_scale=scale,
    )
    seen = said.search_tree.summary()
    visits = np.array(seen.visit_counts).astype(np.int64)
    found = said.action, said.action_weights, seen.value, visits, seen.qvalues
    return SearchResult(*map(np.array, found)), scale * np.array(noise)


def _qtransform(config: SearchConfig, mctx: Any) -> Any:
    """Values completed and scaled as the configuration has it."""

    def transform(tree: Any, node: Any) -> Any:
        return mctx.qtransform_completed_by_mix_value(
            tree, node, value_scale=config.c_scale, maxvisit_init=config.c_visit
        )

    return transform


def _step_of(table: Table, jnp: Any, mctx: Any) -> Any:
    """A step in the table, for mctx; nothing counts that comes after an end."""
    successors, rewards = jnp.array(table.successors), jnp.array(table.rewards)
    logits = jnp.array(np.where(table.masks, table.logits, LOWEST))
    values, goes_on = jnp.array(table.values), jnp.array(table.masks.any(axis=1))

    def step(_params: None, _key: Any, action: Any, state: Any) -> Any:
        after = successors[state, action]
        output = mctx.RecurrentFnOutput(
            reward=rewards[state, action],
            discount=1.0 * goes_on[after],
            prior_logits=logits[after],
            value=values[after],
        )
        return output, after

    return step
