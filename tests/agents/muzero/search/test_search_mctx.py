"""The search does what mctx does, on random tables.

Answers of mctx are written down in ``mctx_answers.json``; where it is installed,
``python tests/agents/muzero/search/test_search_mctx.py`` renews them.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from mctx_oracle import answer
from table_model import Table, TableModel, random_table, searched

from hybridalloc.agents.muzero.search import SearchConfig, SearchResult

ANSWERS = Path(__file__).with_name("mctx_answers.json")
CASES = range(16)


def case(
    seed: int, states: int, games: int
) -> tuple[Table, list[int], SearchConfig, float]:
    """A table, the states that games begin in, how to search, and how much noise."""
    rng = np.random.default_rng(seed)
    table = random_table(rng, states, 2 + seed % 3, unit=(1.0, 1e-2)[seed % 2])
    starts = rng.choice(np.flatnonzero(table.masks.any(axis=1)), games).tolist()
    config = SearchConfig(
        narrowest=1e-8,
        simulations=(1, 2, 3, 5, 8, 16, 32, 64)[seed % 8],
        considered_actions=(1, 2, 3, 16)[seed % 4],
        c_visit=float(rng.choice([0.0, 10.0, 50.0])),
        c_scale=float(rng.choice([0.05, 0.1, 1.0])),
    )
    return table, starts, config, float(rng.choice([0.0, 0.5, 1.0]))


def assert_same(found: SearchResult, expected: SearchResult) -> None:
    """The same, but for rounding; mctx has no value of an action never taken."""
    np.testing.assert_array_equal(found.visits, expected.visits)
    np.testing.assert_array_equal(found.action, expected.action)
    np.testing.assert_allclose(found.policy, expected.policy, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.value, expected.value, rtol=1e-9, atol=1e-12)
    taken = found.visits > 0
    np.testing.assert_allclose(found.q[taken], expected.q[taken], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(16, 24))
def test_on_random_tables_the_search_finds_what_mctx_finds(seed: int) -> None:
    pytest.importorskip("mctx")
    table, starts, config, scale = case(seed, states=300, games=100)
    expected, noise = answer(table, starts, config, scale, seed)
    assert_same(searched(TableModel(table), starts, config, noise), expected)


@pytest.mark.parametrize("number", CASES)
def test_the_search_finds_what_mctx_has_found(number: int) -> None:
    told = json.loads(ANSWERS.read_text(encoding="utf-8"))[number]
    table = Table(**{name: np.array(values) for name, values in told["table"].items()})
    config = SearchConfig(**told["config"], narrowest=1e-8)
    found = searched(TableModel(table), told["starts"], config, told["noise"])
    expected = {name: np.array(values) for name, values in told["answer"].items()}
    assert_same(found, SearchResult(**expected))


def written(seed: int) -> dict[str, object]:
    """A case and what mctx makes of it, as it is written down."""
    table, starts, config, scale = case(seed, states=9, games=3)
    expected, noise = answer(table, starts, config, scale, seed)
    names = ("simulations", "considered_actions", "c_visit", "c_scale")
    return {
        "table": {name: array.tolist() for name, array in vars(table).items()},
        "starts": starts,
        "config": {name: getattr(config, name) for name in names},
        "noise": noise.tolist(),
        "answer": {name: array.tolist() for name, array in expected._asdict().items()},
    }


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(written(seed)) for seed in CASES)
    ANSWERS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
