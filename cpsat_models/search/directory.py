"""Directories: many arrays behind one, so that compiled functions pass one around.

Each array that a compiled function takes costs time in every call, and much more when
it is compiled: a kernel of fifty functions that hand on thirty arrays takes minutes. A
directory has a row for each array, with its address and shape; a compiled function
looks up those that it uses. Whoever makes a directory keeps its arrays alive.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import carray, types
from numba.extending import intrinsic

from hybridalloc.arrays import Floats, Ints
from hybridalloc.jit import compiled


def directory(arrays: Iterable[Floats | Ints]) -> Ints:
    """(arrays, 3): the address, the rows and the columns of each.

    Args:
        arrays: Of one or two dimensions, contiguous, of 64-bit numbers.

    Raises:
        ValueError: One is not.
    """
    rows = []
    for array in arrays:
        is_wide = array.dtype in (np.float64, np.int64) and array.ndim in (1, 2)
        if not (is_wide and array.flags.c_contiguous):
            raise ValueError(
                f"array of {array.dtype}, shape {array.shape}: expected 64-bit numbers, "
                f"contiguous, in one or two dimensions"
            )
        rows.append((array.ctypes.data, *array.shape, 1)[:3])
    return np.array(rows, dtype=np.int64)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def _pointer(context: Any, address: Any) -> Any:
    """An address as a pointer."""
    del context

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        from llvmlite import ir

        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.voidptr(address), generate


@compiled
def ints(where: Ints, which: int) -> Ints:
    """An array of whole numbers, with two dimensions.

    Args:
        where: The directory.
        which: The array's row in it.
    """
    shape = where[which, 1], where[which, 2]
    return carray(_pointer(where[which, 0]), shape, np.int64)


@compiled
def floats(where: Ints, which: int) -> Floats:
    """An array of floating-point numbers, with two dimensions; see ``ints``."""
    shape = where[which, 1], where[which, 2]
    return carray(_pointer(where[which, 0]), shape, np.float64)


@compiled
def int_row(where: Ints, which: int) -> Ints:
    """An array of whole numbers, with one dimension; see ``ints``."""
    return carray(_pointer(where[which, 0]), (where[which, 1],), np.int64)


@compiled
def float_row(where: Ints, which: int) -> Floats:
    """An array of floating-point numbers, with one dimension; see ``ints``."""
    return carray(_pointer(where[which, 0]), (where[which, 1],), np.float64)
