"""Graphs of operators: names, and the problems that become of them."""

from __future__ import annotations

import pytest

from hybridalloc import UsageError
from hybridalloc.io.operator_graph import OperatorGraph
from hybridalloc.program import Access


def graph_of(*names: str) -> OperatorGraph:
    """A graph of one operator that writes storages of these names."""
    graph = OperatorGraph("graph")
    numbers = [graph.add_intermediate(name, 8) for name in names]
    graph.add_operator("step", "fill", 0, [Access(x, 0, 8, True) for x in numbers])
    return graph


def test_a_name_that_is_taken_gets_a_number() -> None:
    problem = graph_of("x", "x#2", "x", "x", "y").problem("tpu-v4i", "roofline")
    names = [buffer.name for buffer in problem.program.buffers]
    assert names == ["x", "x#2", "x#3", "x#4", "y"]


def test_ten_thousand_equal_names_differ() -> None:
    program = graph_of(*["x"] * 10_000).problem("tpu-v4i", "roofline").program
    assert program.buffers[-1].name == "x#10000"
    assert len({buffer.name for buffer in program.buffers}) == 10_000


@pytest.mark.parametrize(
    ("target", "cost_model", "words"),
    [
        ("tpu", "roofline", "unknown target 'tpu'"),
        ("tpu-v4i", "roof", "unknown cost model 'roof'; known: roofline, cycles"),
    ],
)
def test_an_unknown_target_or_cost_model_is_an_error_of_usage(
    target: str, cost_model: str, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        graph_of("x").problem(target, cost_model)
