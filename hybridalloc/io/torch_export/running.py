"""An exported program as a graph of operators: its inputs, its run and its outputs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, OutputKind
from torch.utils._pytree import tree_leaves

from hybridalloc.io.operator_graph import OperatorGraph
from hybridalloc.io.torch_export.quiet import quiet
from hybridalloc.io.torch_export.recording import Recorder
from hybridalloc.io.torch_export.traffic import tensors_in

WEIGHTS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
"""Inputs that are the same in every run, unless the program writes them."""


def operator_graph(exported: ExportedProgram, name: str) -> OperatorGraph:
    """The operators that an exported program comes down to.

    Args:
        exported: Has static shapes.
        name: What to call its program.

    Raises:
        ValueError: A shape is not static, or an operator cannot be run without data.
    """
    _require_static(exported)
    graph = OperatorGraph(name)
    mode = detect_fake_mode(list(exported.state_dict.values())) or FakeTensorMode()
    inputs = [_Input(exported, spec, node, mode) for spec, node in _inputs(exported)]
    recorder = Recorder(graph)
    for given in inputs:
        for tensor in tensors_in(given.value):
            recorder.add_input(given.name, tensor, is_weight=given.is_weight)
    module = exported.graph_module
    with quiet(), torch.no_grad(), _uncached(mode), recorder:
        results = _Run(module, recorder).run(*(x.value for x in inputs))
        _finish(exported, recorder, {x.node: x.value for x in inputs}, results)
    return graph


@contextmanager
def _uncached(mode: FakeTensorMode) -> Iterator[None]:
    """A mode without its cache, which forgets how large storages are."""
    was_enabled, mode.cache_enabled = mode.cache_enabled, False
    try:
        with mode:
            yield
    finally:
        mode.cache_enabled = was_enabled


class _Input:
    """A placeholder of the graph and what stands for it."""

    def __init__(
        self,
        exported: ExportedProgram,
        spec: InputSpec,
        node: torch.fx.Node,
        mode: FakeTensorMode,
    ) -> None:
        self.node = node.name
        self.name = spec.target or node.name
        self.is_weight = spec.kind in WEIGHTS
        if self.is_weight:
            self.value: object = _weight(exported, self.name, mode)
        elif spec.kind is InputKind.USER_INPUT:
            self.value = _given(node, mode)
        else:
            raise ValueError(
                f"input {node.name} is a {spec.kind.name}, expected tensors and numbers"
            )


def _inputs(
    exported: ExportedProgram,
) -> Iterator[tuple[InputSpec, torch.fx.Node]]:
    nodes = (node for node in exported.graph.nodes if node.op == "placeholder")
    return zip(exported.graph_signature.input_specs, nodes, strict=True)


def _weight(exported: ExportedProgram, name: str, mode: FakeTensorMode) -> object:
    """A parameter, buffer or constant without its data."""
    value = exported.state_dict.get(name)
    if value is None:
        value = exported.constants[name]
    if isinstance(value, FakeTensor):
        return value
    return mode.from_tensor(value)


def _given(node: torch.fx.Node, mode: FakeTensorMode) -> object:
    """What stands for an argument of the model."""
    value = node.meta["val"]
    if not isinstance(value, torch.Tensor):
        return value
    with mode:
        return torch.empty_strided(
            value.shape, value.stride(), dtype=value.dtype, device=value.device
        )


class _Run(torch.fx.Interpreter):
    """Runs a graph node by node, and tells the recorder which."""

    def __init__(self, module: torch.fx.GraphModule, recorder: Recorder) -> None:
        super().__init__(module)
        self._recorder = recorder
        self.extra_traceback = False  # errors stay one line

    def run_node(self, n: torch.fx.Node) -> Any:
        """Run one node.

        Raises:
            ValueError: It cannot be run without data.
        """
        self._recorder.begin(n.name, n.target)
        try:
            return super().run_node(n)
        except _NodeError:
            raise
        except Exception as error:  # whatever a kernel raises for what it is given
            raise _NodeError(_complaint(n, error)) from error

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Call an operator; what only sets a mode for some operators runs them."""
        if not isinstance(target, torch._ops.HigherOrderOperator):
            return super().call_function(target, args, kwargs)
        if str(target) == "wrap_with_set_grad_enabled":
            _, module, *operands = args
            return _Run(module, self._recorder).run(*operands)
        if str(target) == "wrap_with_autocast":
            device, dtype, enabled, cache, module, *operands = args
            with torch.autocast(device, dtype, enabled, cache):
                return _Run(module, self._recorder).run(*operands)
        raise ValueError("expected a graph without control flow")


class _NodeError(ValueError):
    """A node that cannot be run, by name."""


def _complaint(node: torch.fx.Node, error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return f"node {node.name} ({node.target}): {lines[0]}"


def _finish(
    exported: ExportedProgram,
    recorder: Recorder,
    inputs: dict[str, object],
    results: Any,
) -> None:
    """Copy what belongs in inputs there, as PyTorch does, and mark the outputs."""
    specs = exported.graph_signature.output_specs
    names = {spec.target: node.name for spec, node in _inputs(exported)}
    for spec, value in zip(specs, results, strict=True):
        target = spec.target
        if target is None or not spec.kind.name.endswith("_MUTATION"):
            recorder.mark_outputs(value)
            continue
        is_argument = spec.kind is OutputKind.USER_INPUT_MUTATION
        recorder.begin(target, None)
        torch.ops.aten.copy_(inputs[target if is_argument else names[target]], value)


def _require_static(exported: ExportedProgram) -> None:
    """Refuse sizes that are not known.

    Raises:
        ValueError: A size is symbolic.
    """
    for node in exported.graph.nodes:
        for value in tree_leaves(node.meta.get("val")):
            known = list(value.shape) if isinstance(value, torch.Tensor) else [value]
            for size in known:
                if isinstance(size, torch.SymInt | torch.SymFloat | torch.SymBool):
                    raise ValueError(
                        f"node {node.name}: size {size} is not a number (expected "
                        f"static shapes: export without dynamic_shapes)"
                    )
