"""Running an exported graph without data, to see what its operators touch.

PyTorch itself says what an operator comes down to, which tensors share storage and
what is changed in place: the graph runs on fake tensors, which have everything but
data, and each operator that reaches them is written down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from hybridalloc.io.operator_graph import OperatorGraph
from hybridalloc.io.torch_export.traffic import (
    Touch,
    allocates,
    operand_touches,
    tensors_in,
    view_bytes,
)
from hybridalloc.program import Access

aten = torch.ops.aten

SAME_FLOPS = {
    aten._scaled_dot_product_flash_attention_for_cpu: (
        aten._scaled_dot_product_flash_attention
    ),
}
"""Operators that PyTorch does not count, and one that takes the same arguments."""


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Writes the operators that run into a graph, with the storages that they touch."""

    def __init__(self, graph: OperatorGraph) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._graph = graph
        self._node = ""
        self._asked: object = None
        self._numbers: dict[int, int] = {}
        self._kept: list[torch.UntypedStorage] = []
        """All that were seen, so that none is freed and its place taken by another."""

    def add_input(self, name: str, tensor: torch.Tensor, *, is_weight: bool) -> None:
        """Make known a tensor that is filled before the graph runs."""
        if self._number(tensor) is None:
            size = _storage(tensor).nbytes()
            number = self._graph.add_input(name, size, is_weight=is_weight)
            self._remember(tensor, number)

    def begin(self, node: str, operator: object) -> None:
        """Make known which node of the exported graph runs, and what it asks for."""
        self._node, self._asked = node, operator

    def mark_outputs(self, value: object) -> None:
        """Make known that the tensors in a value are needed when the graph has run."""
        for tensor in tensors_in(value):
            number = self._number(tensor)
            assert number is not None
            self._graph.mark_output(number)

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run an operator and write it down."""
        keywords = kwargs or {}
        result = func(*args, **keywords)
        self._record(func, args, keywords, result)
        return result

    def _record(
        self,
        operator: torch._ops.OpOverload,
        arguments: Sequence[Any],
        keywords: Mapping[str, Any],
        result: object,
    ) -> None:
        touches = operand_touches(operator, arguments, keywords, result)
        for touch in touches:
            self.add_input(self._name(operator), touch.tensor, is_weight=True)
        made = [x for x in tensors_in(result) if self._number(x) is None]
        if not made and not any(touch.write_bytes for touch in touches):
            return  # a view, or a question about shapes
        name = self._name(operator)
        accesses = [self._access(touch) for touch in touches]
        for index, tensor in enumerate(made):
            written = 0 if allocates(operator) else view_bytes(tensor)
            number = self._number(tensor)
            if number is None:
                number = self._graph.add_intermediate(
                    name if len(made) == 1 else f"{name}{{{index}}}",
                    _storage(tensor).nbytes(),
                )
                self._remember(tensor, number)
            accesses.append(Access(number, write_bytes=written, whole=True))
        flops = _flops(operator, arguments, keywords, result)
        kind = str(operator.overloadpacket)
        self._graph.add_operator(name, kind, flops, accesses)

    def _name(self, operator: torch._ops.OpOverload) -> str:
        """The node's, and the operator's where the node asks for another."""
        same = operator is self._asked
        return self._node if same else f"{self._node}/{operator._opname}"

    def _access(self, touch: Touch) -> Access:
        number = self._number(touch.tensor)
        assert number is not None
        return Access(number, touch.read_bytes, touch.write_bytes, touch.whole)

    def _number(self, tensor: torch.Tensor) -> int | None:
        return self._numbers.get(_storage(tensor)._cdata)

    def _remember(self, tensor: torch.Tensor, number: int) -> None:
        storage = _storage(tensor)
        self._numbers[storage._cdata] = number
        self._kept.append(storage)


def _storage(tensor: torch.Tensor) -> torch.UntypedStorage:
    if tensor.layout is not torch.strided:
        raise ValueError(f"expected dense tensors, this has the layout {tensor.layout}")
    return tensor.untyped_storage()


def _flops(
    operator: torch._ops.OpOverload,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    result: object,
) -> float:
    """What PyTorch's own counter says; it counts what matrix units do."""
    packet = operator.overloadpacket
    formula = flop_registry.get(SAME_FLOPS.get(packet, packet))
    if formula is None:
        return 0
    return float(formula(*arguments, **keywords, out_val=result))
