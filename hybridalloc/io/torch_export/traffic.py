"""What an operator of PyTorch reads and writes, by its schema and its tensors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

LOOK_UPS = frozenset(
    ("embedding", "gather", "index", "index_select", "take", "_unsafe_index")
)
"""They read of their first tensor as many bytes as they return."""

FILL_INS = {
    "_index_put_impl_": "values",
    "_unsafe_index_put_": "values",
    "index_add_": "source",
    "index_copy_": "source",
    "index_put_": "values",
    "masked_scatter_": "source",
    "scatter_": "src",
    "scatter_add_": "src",
    "scatter_reduce_": "src",
}
"""They write as many bytes as the argument named here has."""

OVERWRITES = frozenset(
    (
        *("copy_", "fill_", "zero_", "index_copy_", "index_put_", "scatter_"),
        *("_index_put_impl_", "_unsafe_index_put_", "masked_scatter_"),
        *("bernoulli_", "exponential_", "normal_", "random_", "uniform_"),
    )
)
"""They do not read what they write."""

ALLOCATIONS = frozenset(
    (
        *("empty", "empty_like", "empty_permuted", "empty_strided"),
        *("new_empty", "new_empty_strided"),
    )
)
"""They return memory without writing it."""

NORMS = frozenset(("cudnn_batch_norm", "miopen_batch_norm", "native_batch_norm"))
RUNNING = ("running_mean", "running_var")
"""In training, ``NORMS`` write these arguments, which their schemas do not say."""


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """What an operator does with one of its tensors; bytes."""

    tensor: torch.Tensor
    read_bytes: int = 0
    write_bytes: int = 0


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
    operands = list(_operands(operator, arguments, keywords))
    filled = FILL_INS.get(name, "")
    filling = sum(
        sum(map(view_bytes, x)) for arg, x, _ in operands if arg.name == filled
    )
    returned = sum(map(view_bytes, tensors_in(result)))
    touches = []
    for number, (argument, tensors, is_written) in enumerate(operands):
        for tensor in tensors:
            read = write = view_bytes(tensor)
            if name in LOOK_UPS and number == 0:
                read = min(read, returned)
            if filling and is_written:
                read = write = min(write, filling)
            if is_written and (argument.is_out or name in OVERWRITES):
                read = 0
            touches.append(Touch(tensor, read, write if is_written else 0))
    return touches


def allocates(operator: torch._ops.OpOverload) -> bool:
    """Whether an operator returns memory without writing it."""
    return operator._opname in ALLOCATIONS


def tensors_in(value: object) -> list[torch.Tensor]:
    """The tensors in nested lists, tuples and dictionaries."""
    return [x for x in tree_leaves(value) if isinstance(x, torch.Tensor)]


def _bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(map(view_bytes, tensors))


def _operands(
    operator: torch._ops.OpOverload,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> Iterator[tuple[torch.Argument, list[torch.Tensor], bool]]:
    """The schema's arguments, the tensors given for each, and whether they change."""
    schema = operator._schema.arguments
    given = dict(zip((argument.name for argument in schema), arguments, strict=False))
    given |= keywords
    trains = operator._opname in NORMS and given["training"]
    for argument in schema:
        alias = argument.alias_info
        is_written = alias is not None and alias.is_write
        is_written |= trains and argument.name in RUNNING
        yield argument, tensors_in(given.get(argument.name)), is_written
