"""An ONNX model as a graph of operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hybridalloc.io.onnx_model.flops import Operands, flops
from hybridalloc.io.onnx_model.values import Value, stored_value, typed_value
from hybridalloc.io.operator_graph import OperatorGraph
from hybridalloc.program import Access

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

VIEWS = frozenset(("Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"))
"""Their result is their first operand under another shape."""

LOOK_UPS = frozenset(("Gather", "GatherElements", "GatherND", "Slice"))
"""They read of their first operand as many bytes as they give."""

QUESTIONS = frozenset(("Shape", "Size"))
"""They read nothing but a shape."""


def operator_graph(model: ModelProto, name: str) -> OperatorGraph:
    """The operators of a model, in its order.

    Args:
        model: Its values have types.
        name: What to call its program.

    Raises:
        ValueError: A value has no static shape, or the model is wrong.
    """
    reader = _Reader(model.graph, name)
    for node in model.graph.node:
        try:
            reader.add(node)
        except ValueError as error:
            raise ValueError(f"node {_name(node)} ({node.op_type}): {error}") from error
    for output in model.graph.output:
        reader.graph.mark_output(reader.storage(output.name))
    return reader.graph


class _Reader:
    def __init__(self, model: GraphProto, name: str) -> None:
        self.graph = OperatorGraph(name)
        self._types = {info.name: info for info in _typed(model)}
        self._values: dict[str, Value] = {}
        self._storages: dict[str, int] = {}
        if model.sparse_initializer:
            sparse = model.sparse_initializer[0].values.name
            raise ValueError(f"value {sparse}: expected a dense tensor, it is sparse")
        for tensor in model.initializer:
            self._add_input(stored_value(tensor), is_weight=True)
        for info in model.input:
            if info.name not in self._values:
                self._add_input(typed_value(info), is_weight=False)

    def add(self, node: NodeProto) -> None:
        """The next node.

        Raises:
            ValueError: It has a subgraph, or a value that is not known.
        """
        if any(x.HasField("g") or x.graphs for x in node.attribute):
            raise ValueError("expected a model without subgraphs, this node has one")
        for name in filter(None, node.input):
            self.storage(name)  # refuses what no earlier node gives
        for name in filter(None, node.output):
            self._values[name] = typed_value(self._type(name))
        if _kind(node) == "Constant":
            self._add_input(self._values[_first(node.output)], is_weight=True)
        elif _is_view(node):
            self._storages[_first(node.output)] = self.storage(_first(node.input))
        else:
            self._add_operator(node)

    def storage(self, name: str) -> int:
        """The storage of a value.

        Raises:
            ValueError: No earlier node gives it.
        """
        if name not in self._storages:
            raise ValueError(f"value {name}: no earlier node gives it")
        return self._storages[name]

    def _add_operator(self, node: NodeProto) -> None:
        kind = _kind(node)
        operands = [self._values[x] if x else None for x in node.input]
        results = [self._values[x] if x else None for x in node.output]
        accesses = [
            Access(self._storages[value.name], read)
            for value, read in _reads(kind, operands, results)
        ]
        for value in filter(None, results):
            storage = self.graph.add_intermediate(value.name, value.size)
            self._storages[value.name] = storage
            accesses.append(Access(storage, write_bytes=value.size, whole=True))
        attributes = {x.name: x.i or x.s for x in node.attribute}
        count = flops(kind, operands, results, attributes)
        self.graph.add_operator(_name(node), kind, count, accesses)

    def _add_input(self, value: Value, *, is_weight: bool) -> None:
        self._values[value.name] = value
        self._storages[value.name] = self.graph.add_input(
            value.name, value.size, is_weight=is_weight
        )

    def _type(self, name: str) -> ValueInfoProto:
        if name not in self._types:
            raise ValueError(
                f"value {name}: its shape is not known (expected an operator of ONNX, "
                f"or a model that says it in value_info)"
            )
        return self._types[name]


def _typed(model: GraphProto) -> Iterator[ValueInfoProto]:
    for infos in (model.value_info, model.input, model.output):
        yield from infos


def _reads(
    kind: str, operands: Operands, results: Operands
) -> Iterator[tuple[Value, int]]:
    """The values that a node reads, and the bytes of them."""
    given = sum(value.size for value in results if value)
    for number, value in enumerate(operands):
        if value and kind not in QUESTIONS:
            is_table = kind in LOOK_UPS and number == 0
            yield value, min(value.size, given) if is_table else value.size


def _is_view(node: NodeProto) -> bool:
    kind = _kind(node)
    if kind == "Dropout":  # without training it passes its operand on
        return len(node.input) < 3 and len(list(filter(None, node.output))) == 1
    return kind in VIEWS


def _first(names: Sequence[str]) -> str:
    """The name of a node's first operand or result, which it must have."""
    if not names or not names[0]:
        raise ValueError("expected a first operand and a first result, by name")
    return names[0]


def _kind(node: NodeProto) -> str:
    """The operator, with its domain if it is none of ONNX's own."""
    own = node.domain in ("", "ai.onnx")
    return str(node.op_type) if own else f"{node.domain}.{node.op_type}"


def _name(node: NodeProto) -> str:
    first: str = next(filter(None, node.output), node.op_type)
    return str(node.name) or first
