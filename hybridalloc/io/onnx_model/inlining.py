"""Inlining a model's functions, where that does not blow it up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import FunctionProto, ModelProto, NodeProto

MOST_NODES = 10**6
MOST_BYTES = 2**31
"""What protobuf holds."""
MOST_DEPTH = 100
"""How deep functions may call each other: ONNX's inliner recurses."""

Key = tuple[str, str, str]
"""A function's domain, name and overload."""


@dataclass(frozen=True, slots=True)
class _Extent:
    """What nodes come to once the functions that they call are inlined."""

    nodes: int = 0
    size: int = 0
    """Bytes."""
    depth: int = 0


def inlined(model: ModelProto) -> ModelProto:
    """A model without functions of its own.

    Raises:
        ValueError: Functions call each other in a cycle, or the model would have more
            than ``MOST_NODES`` nodes or ``MOST_BYTES`` bytes: 40 functions that each
            call the next one twice make 2^40 nodes.
    """
    from onnx import inliner

    if not model.functions:
        return model
    _require_small(_extent(model))
    return inliner.inline_local_functions(model)


def all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Nodes, and those of their subgraphs."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from all_nodes(graph.node)


def _require_small(extent: _Extent) -> None:
    for what, found, most in (
        ("nodes", extent.nodes, MOST_NODES),
        ("bytes", extent.size, MOST_BYTES),
        ("levels of functions", extent.depth, MOST_DEPTH),
    ):
        if found > most:
            raise ValueError(
                f"expected at most {most:,} {what} once functions are inlined, there "
                f"are more"
            )


def _extent(model: ModelProto) -> _Extent:
    """The model's, each function's being found out once."""
    bodies: dict[Key, list[NodeProto]] = {}
    for function in model.functions:  # one that is there twice counts as both
        bodies.setdefault(_key(function, function.name), []).extend(
            all_nodes(function.node)
        )
    calls = {
        key: {_key(node, node.op_type) for node in nodes} & bodies.keys()
        for key, nodes in bodies.items()
    }
    extents: dict[Key, _Extent] = {}
    try:
        for key in TopologicalSorter(calls).static_order():
            extents[key] = _sum(bodies[key], extents)
    except CycleError as error:
        name = error.args[1][0][1]
        raise ValueError(
            f"expected functions that do not call themselves, {name} does"
        ) from error
    return _sum(all_nodes(model.graph.node), extents)


def _sum(nodes: Iterable[NodeProto], extents: Mapping[Key, _Extent]) -> _Extent:
    """What nodes come to, as far as it matters: no more than one above the most."""
    count = size = depth = 0
    for node in nodes:
        called = extents.get(_key(node, node.op_type), _Extent(nodes=1, depth=-1))
        count = min(count + called.nodes, MOST_NODES + 1)
        size = min(size + called.size + node.ByteSize(), MOST_BYTES + 1)
        depth = max(depth, called.depth + 1)
    return _Extent(count, size, depth)


def _key(item: FunctionProto | NodeProto, name: str) -> Key:
    return "" if item.domain == "ai.onnx" else item.domain, name, item.overload
