"""Operators that write a part of a tensor, on cases worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch_cases import exported

from hybridalloc.io.torch_export import from_exported_program
from hybridalloc.program import Access

Update = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class Updated(nn.Module):
    """A new tensor of 4 x 6 numbers, all the same, and what then becomes of it."""

    def __init__(self, update: Update) -> None:
        super().__init__()
        self.update = update

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        self.update(y, x)
        return y


X = torch.zeros(4, 6)
ROWS = torch.tensor([1, 1])
"""Twice the same: what is written is less than what is given."""
PLACES = torch.tensor([[0, 1, 1]])


def update_of(update: Update) -> Access:
    """What the last instruction does with the tensor that is updated."""
    program = from_exported_program(exported(Updated(update), X)).program
    last = program.instructions[-1].accesses
    (access,) = [a for a in last if program.buffers[a.buffer].name == "add"]
    return access


NEW = {
    "scatter_.src": (lambda y, x: y.scatter_(1, PLACES, x), 3),
    "scatter_.src, as long as the tensor": (
        lambda y, x: y.scatter_(0, torch.zeros(4, 6, dtype=torch.int64), x),
        24,
    ),
    "scatter_.value": (lambda y, x: y.scatter_(1, PLACES, 1.0), 3),
    "masked_scatter_": (lambda y, x: y.masked_scatter_(x > 0, x), 24),
    "masked_scatter_, of few": (lambda y, x: y.masked_scatter_(x > 0, x[0]), 6),
    "index_copy_": (lambda y, x: y.index_copy_(0, ROWS, x[:2]), 12),
    "index_copy_, of a repeated row": (
        lambda y, x: y.index_copy_(0, ROWS, x[0].expand(2, 6)),
        12,
    ),
    "index_copy_, as long as the tensor": (
        lambda y, x: y.index_copy_(0, torch.zeros(4, dtype=torch.int64), x),
        24,
    ),
    "index_fill_": (lambda y, x: y.index_fill_(-1, ROWS, 0), 8),
    "put_": (lambda y, x: y.put_(ROWS, x[0, :2]), 2),
    "index_put_, of rows": (lambda y, x: y.index_put_((ROWS,), x[:2]), 12),
    "index_put_, of places": (lambda y, x: y.index_put_((ROWS, ROWS), x[0, :2]), 2),
    "index_put_, of a block": (
        lambda y, x: y.index_put_((ROWS[:, None], PLACES), x[:2, :3]),
        6,
    ),
    "index_put_, of a repeated row": (
        lambda y, x: y.index_put_((ROWS,), x[0].expand(2, 6)),
        12,
    ),
    "index_put_, of columns and one number": (
        lambda y, x: y.__setitem__((slice(None), ROWS), 0),
        8,
    ),
    "index_put_, as long as the tensor": (
        lambda y, x: y.index_put_((torch.zeros(4, dtype=torch.int64),), x),
        24,
    ),
    "index_put_, of a mask": (lambda y, x: y.__setitem__(x > 0, 1.0), 24),
}
"""Updates that read nothing of the tensor, and how many numbers they write at most."""

ADDED = {
    "scatter_.reduce": (lambda y, x: y.scatter_(1, PLACES, x, reduce="add"), 3),
    "scatter_.value_reduce": (
        lambda y, x: y.scatter_(1, PLACES, 2.0, reduce="multiply"),
        3,
    ),
    "scatter_add_": (lambda y, x: y.scatter_add_(1, PLACES, x), 3),
    "scatter_reduce_": (lambda y, x: y.scatter_reduce_(1, PLACES, x, "amax"), 3),
    "index_add_": (lambda y, x: y.index_add_(0, ROWS, x[:2]), 12),
    "index_reduce_": (lambda y, x: y.index_reduce_(0, ROWS, x[:2], "amin"), 12),
    "put_, added": (lambda y, x: y.put_(ROWS, x[0, :2], accumulate=True), 2),
    "index_put_, added": (
        lambda y, x: y.index_put_((ROWS,), x[:2], accumulate=True),
        12,
    ),
    "index_put_, added, as long as the tensor": (
        lambda y, x: y.index_put_((torch.arange(4),), x, True),
        24,
    ),
    "masked_fill_": (lambda y, x: y.masked_fill_(x > 0, 1.0), 24),
}
"""Updates that also read what they write."""


@pytest.mark.parametrize(("update", "count"), NEW.values(), ids=NEW)
def test_an_update_at_indices_writes_them_and_never_the_whole(
    update: Update, count: int
) -> None:
    access = update_of(update)
    assert (access.read_bytes, access.write_bytes) == (0, 4 * count)
    assert not access.whole


@pytest.mark.parametrize(("update", "count"), ADDED.values(), ids=ADDED)
def test_an_update_that_combines_reads_what_it_writes(
    update: Update, count: int
) -> None:
    access = update_of(update)
    assert (access.read_bytes, access.write_bytes) == (4 * count, 4 * count)
    assert not access.whole


@pytest.mark.parametrize(
    "update",
    [
        lambda y, x: y.copy_(x),
        lambda y, x: y.t().copy_(x.t()),
        lambda y, x: y.fill_(1),
        lambda y, x: y.zero_(),
        lambda y, x: y.uniform_(),
    ],
    ids=["copy_", "copy_, turned", "fill_", "zero_", "uniform_"],
)
def test_what_writes_every_element_is_whole(update: Update) -> None:
    access = update_of(update)
    assert (access.read_bytes, access.write_bytes) == (0, 96)
    assert access.whole


def test_numbers_that_are_shown_twice_are_not_all() -> None:
    overlapping = update_of(lambda y, x: y.as_strided((4, 6), (1, 1)).copy_(x))
    assert not overlapping.whole
