"""What an operator of PyTorch reads and writes, by its schema and its tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

LOOK_UPS = frozenset(
    ("embedding", "gather", "index", "index_select", "take", "_unsafe_index")
)
"""They read of their first tensor as many bytes as they return."""

UPDATES = {
    "index_add_": "source",
    "index_copy_": "source",
    "index_reduce_": "source",
    "masked_scatter_": "source",
    "put_": "index",
    "scatter_": "index",
    "scatter_add_": "index",
    "scatter_reduce_": "index",
}
"""They write at most as many elements as the argument named here has."""

REGIONS = frozenset(("_index_put_impl_", "index_put_"))
"""They write the elements that their ``indices`` select."""

OVERWRITES = frozenset(
    (
        *("copy_", "fill_", "zero_", "index_copy_", "index_fill_", "index_put_"),
        *("_index_put_impl_", "masked_scatter_", "put_", "scatter_"),
        *("bernoulli_", "exponential_", "normal_", "random_", "uniform_"),
    )
)
"""They do not read what they write, unless ``COMBINES`` says so."""

COMBINES = ("accumulate", "reduce")
"""Given one of these, an operator works on what was there before."""

ALLOCATIONS = frozenset(
    (
        *("empty", "empty_like", "empty_permuted", "empty_strided"),
        *("new_empty", "new_empty_strided"),
    )
)
"""They return memory without writing it."""

MASKS = (torch.bool, torch.uint8)
"""Indices of these types say of each element whether it is selected."""

NORMS = frozenset(("cudnn_batch_norm", "miopen_batch_norm", "native_batch_norm"))
RUNNING = ("running_mean", "running_var")
"""In training, ``NORMS`` write these arguments, which their schemas do not say."""


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """What an operator does with one of its tensors; bytes."""

    tensor: torch.Tensor
    read_bytes: int = 0
    write_bytes: int = 0
    whole: bool = False
    """Whether it overwrites every byte of the tensor's storage and reads none."""


def view_bytes(tensor: torch.Tensor) -> int:
    """The bytes of its storage that a tensor shows; what it repeats counts once.

    >>> view_bytes(torch.zeros(3, 1).expand(3, 5)[:2])
    8
    """
    sides = zip(tensor.shape, tensor.stride(), strict=True)
    count = math.prod(size for size, stride in sides if stride or not size)
    return min(count * tensor.element_size(), tensor.untyped_storage().nbytes())


def operand_touches(
    operator: torch._ops.OpOverload,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    result: object,
) -> list[Touch]:
    """What an operator does with its operands, in order.

    Args:
        operator: The operator, whose schema says which operands it writes.
        arguments: What it was called with.
        keywords: The same, by name.
        result: What it returned.
    """
    name = operator._opname
    names = (argument.name for argument in operator._schema.arguments)
    given = dict(zip(names, arguments, strict=False)) | dict(keywords)
    updated = _updated(name, given)
    replaces = name in OVERWRITES and not any(map(given.get, COMBINES))
    returned = sum(map(view_bytes, tensors_in(result)))
    touches = []
    for number, (argument, is_written) in enumerate(_operands(operator, given)):
        is_new = is_written and (argument.is_out or replaces)
        for tensor in tensors_in(given.get(argument.name)):
            read = write = view_bytes(tensor)
            if name in LOOK_UPS and number == 0:
                read = min(read, returned)
            if is_written and updated is not None:
                read = write = min(write, updated * tensor.element_size())
            whole = is_new and updated is None and _is_all(tensor)
            read, write = 0 if is_new else read, write if is_written else 0
            touches.append(Touch(tensor, read, write, whole))
    return touches


def allocates(operator: torch._ops.OpOverload) -> bool:
    """Whether an operator returns memory without writing it."""
    return operator._opname in ALLOCATIONS


def tensors_in(value: object) -> list[torch.Tensor]:
    """The tensors in nested lists, tuples and dictionaries."""
    return [x for x in tree_leaves(value) if isinstance(x, torch.Tensor)]


def _operands(
    operator: torch._ops.OpOverload, given: Mapping[str, Any]
) -> Iterator[tuple[torch.Argument, bool]]:
    """The schema's arguments, and whether what is given for them changes."""
    trains = operator._opname in NORMS and given["training"]
    for argument in operator._schema.arguments:
        alias = argument.alias_info
        is_written = alias is not None and alias.is_write
        yield argument, is_written or (trains and argument.name in RUNNING)


def _updated(name: str, given: Mapping[str, Any]) -> int | None:
    """How many elements an update at indices writes at most; of others, nothing."""
    if name in UPDATES:
        return int(given[UPDATES[name]].numel())
    if name in REGIONS:
        return _selected(given["self"].shape, given["indices"])
    if name == "index_fill_":
        shape, count = given["self"].shape or (1,), given["index"].numel()
        return int(count * math.prod(shape) // max(shape[given["dim"]], 1))
    return None


def _selected(shape: Sequence[int], indices: Sequence[torch.Tensor | None]) -> int:
    """How many elements indices select at most: for masks, all that there are."""
    known = [index for index in indices if index is not None]
    if any(index.dtype in MASKS for index in known):
        return math.prod(shape)
    places = np.broadcast_shapes(*(tuple(index.shape) for index in known))
    beside = (
        size
        for axis, size in enumerate(shape)
        if axis >= len(indices) or indices[axis] is None
    )
    return math.prod(places) * math.prod(beside)


def _is_all(tensor: torch.Tensor) -> bool:
    """Whether a tensor shows each byte of its storage."""
    shown = tensor.element_size()
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size != 1 and stride * tensor.element_size() != shown:
            return False
        shown *= size
    return shown == tensor.untyped_storage().nbytes()
