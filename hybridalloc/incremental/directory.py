"""Directories: many arrays behind one, so that compiled functions pass one around.

Each array that a compiled function takes costs time in every call, and much more when
it is compiled: a kernel of fifty functions that hand on thirty arrays takes minutes. A
directory has a row for each array, with its address and shape; a compiled function
looks up those that it uses. Whoever makes a directory keeps its arrays alive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np
from numba import types
from numba.extending import intrinsic
from numba.np import arrayobj

from hybridalloc.arrays import Floats, Ints

ADDRESS, ROWS, COLUMNS = range(3)
"""The columns of a directory."""
Accessor = Callable[[Ints, int], Any]
_make_array: Any = arrayobj.make_array  # numba's types say nothing of these
_populate_array: Any = arrayobj.populate_array


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
                f"array of {array.dtype}, shape {array.shape}: expected 64-bit "
                f"numbers, contiguous, in one or two dimensions"
            )
        rows.append((array.ctypes.data, *array.shape, 1)[:3])
    return np.array(rows, dtype=np.int64)


def _accessor(dtype: Any, dimensions: int) -> Accessor:
    """A function of a directory and a row in it, for compiled code: the array there."""

    def view(context: Any, where: Any, which: Any) -> Any:
        del context

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            entries = _make_array(where)(context, builder, arguments[0]).data
            first = builder.mul(arguments[1], arguments[1].type(3))
            address, *shape = (
                builder.load(builder.gep(entries, [builder.add(first, first.type(k))]))
                for k in range(1 + dimensions)
            )
            made = _make_array(signature.return_type)(context, builder)
            width = first.type(8)
            strides = [*(builder.mul(x, width) for x in shape[1:]), width]
            _populate_array(
                made,
                data=builder.inttoptr(address, made.data.type),
                shape=shape,
                strides=strides,
                itemsize=8,
                meminfo=None,
            )
            return made._getvalue()

        return types.Array(dtype, dimensions, "C")(where, types.intp), generate

    return cast(Accessor, intrinsic(view))


ints = _accessor(types.int64, 2)
"""An array of whole numbers, with two dimensions."""
floats = _accessor(types.float64, 2)
"""An array of floating-point numbers, with two dimensions."""
int_row = _accessor(types.int64, 1)
"""An array of whole numbers, with one dimension."""
float_row = _accessor(types.float64, 1)
"""An array of floating-point numbers, with one dimension."""
