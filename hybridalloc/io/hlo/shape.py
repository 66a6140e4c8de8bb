"""Shapes of HLO values, and the bytes they take in memory."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

ELEMENT_BITS = {
    "pred": 8,
    **{f"{kind}{bits}": bits for kind in "su" for bits in (2, 4, 8, 16, 32, 64)},
    **{"s1": 1, "u1": 1, "bf16": 16, "f16": 16, "f32": 32, "f64": 64},
    **{"c64": 64, "c128": 128, "token": 0, "opaque": 0, "f4e2m1fn": 4},
}
"""Bits of an element by type; every other ``f8`` and ``f4`` type by its name."""

ShapeIndex = tuple[int, ...]
"""Which element of a nested tuple; ``()`` is the whole."""


def element_bits(dtype: str) -> int:
    """Bits of one element of a type.

    Raises:
        ValueError: The type is unknown.
    """
    if dtype in ELEMENT_BITS:
        return ELEMENT_BITS[dtype]
    if match := re.match(r"f(4|6|8)e", dtype):
        return int(match[1])
    raise ValueError(f"unknown element type {dtype!r}")


@dataclass(frozen=True)
class Shape:
    """An array with its layout, or a tuple of shapes."""

    dtype: str
    """Element type, ``"tuple"`` for a tuple."""
    dims: tuple[int, ...] = ()
    minor_to_major: tuple[int, ...] | None = None
    """The order of dimensions in memory; row-major if not given."""
    tiles: tuple[tuple[int, ...], ...] = ()
    """Each level of tiling; -1 merges a dimension into the next more minor one."""
    memory_space: int = 0
    element_size_bits: int = 0
    """Bits that an element takes in memory, where the layout overrides its type's."""
    elements: tuple[Shape, ...] = ()
    """Of a tuple."""

    @property
    def is_tuple(self) -> bool:
        """Whether this is a tuple."""
        return self.dtype == "tuple"

    @property
    def element_count(self) -> int:
        """Elements of an array."""
        return math.prod(self.dims)

    @cached_property
    def physical_dims(self) -> tuple[int, ...]:
        """Dimensions from major to minor, each level of tiling padded and applied.

        >>> parse_shape("bf16[5,300]{1,0:T(8,128)(2,1)}").physical_dims
        (1, 3, 4, 128, 2, 1)
        """
        order = self.minor_to_major or tuple(reversed(range(len(self.dims))))
        dims = [self.dims[axis] for axis in reversed(order)]
        for tile in self.tiles:
            dims = _apply_tile(dims, tile)
        return tuple(dims)

    @cached_property
    def size(self) -> int:
        """Bytes in memory with all padding; of a tuple, that of its index table.

        >>> parse_shape("f32[]{:T(128)}").size
        512
        """
        if self.is_tuple:
            return 8 * len(self.elements)
        bits = self.element_size_bits or element_bits(self.dtype)
        return -(-math.prod(self.physical_dims) * bits // 8)

    def leaves(self) -> Iterator[tuple[ShapeIndex, Shape]]:
        """Every array in it, with its index."""
        if not self.is_tuple:
            yield (), self
        for position, element in enumerate(self.elements):
            for index, leaf in element.leaves():
                yield (position, *index), leaf

    def at(self, index: ShapeIndex) -> Shape:
        """The shape at an index of nested tuples."""
        shape = self
        for position in index:
            shape = shape.elements[position]
        return shape


def _apply_tile(dims: list[int], tile: tuple[int, ...]) -> list[int]:
    """Split the most minor dimensions into tiles, padding the last ones."""
    dims = [1] * (len(tile) - len(dims)) + dims
    outer, tiled = dims[: len(dims) - len(tile)], dims[len(dims) - len(tile) :]
    merged, sizes, carry = [], [], 1
    for dim, size in zip(tiled, tile, strict=True):
        if size < 0:
            carry *= dim
            continue
        merged.append(carry * dim)
        sizes.append(size)
        carry = 1
    return [*outer, *(-(-d // s) for d, s in zip(merged, sizes, strict=True)), *sizes]


_ARRAY = re.compile(r"([a-z][a-z0-9]*)(?:\[([^\]]*)\])(?:\{([^{}]*)\})?")
_TILE = re.compile(r"\(([^()]*)\)")
_PROPERTY = re.compile(r"([A-Z])((?:\([^()]*\))+)")
_COMMENT = re.compile(r"/\*.*?\*/")


@lru_cache(maxsize=65536)
def parse_shape(text: str) -> Shape:
    """Parse a shape such as ``bf16[8,128]{1,0:T(8,128)(2,1)S(3)}`` or a tuple.

    Raises:
        ValueError: The text is no shape.
    """
    text = _COMMENT.sub("", text).strip()
    if text.startswith("("):
        if not text.endswith(")"):
            raise ValueError(f"unfinished tuple shape {text[:60]!r}")
        parts = split_top_level(text[1:-1])
        return Shape("tuple", elements=tuple(map(parse_shape, parts)))
    match = _ARRAY.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a shape, got {text[:60]!r}")
    dtype, dims, layout = match.groups()
    element_bits(dtype)
    sizes = tuple(int(dim.lstrip("<= ").rstrip("?") or 0) for dim in _list(dims))
    if any(size < 0 or size >= 2**40 for size in sizes):
        raise ValueError(f"dimensions out of range in {text[:60]!r}")
    shape = _with_layout(Shape(dtype, sizes), layout or "")
    order = shape.minor_to_major
    if order is not None and sorted(order) != list(range(len(sizes))):
        raise ValueError(f"layout does not fit the dimensions in {text[:60]!r}")
    return shape


def _list(text: str) -> list[str]:
    return [part for part in text.split(",") if part.strip()]


def _integers(text: str) -> tuple[int, ...]:
    return tuple(-1 if part.strip() == "*" else int(part) for part in _list(text))


def _with_layout(shape: Shape, text: str) -> Shape:
    order, _, properties = text.partition(":")
    if order.strip():
        shape = replace(shape, minor_to_major=_integers(order))
    for name, groups in _PROPERTY.findall(properties):
        values = [_integers(group) for group in _TILE.findall(groups) if name in "TSE"]
        if name == "T":
            if any(size == 0 or size < -1 for tile in values for size in tile):
                raise ValueError(f"tile sizes must be positive in {text!r}")
            shape = replace(shape, tiles=tuple(values))
        elif name == "S":
            shape = replace(shape, memory_space=values[0][0])
        elif name == "E":
            shape = replace(shape, element_size_bits=values[0][0])
    return shape


_BRACKETS = re.compile(r'[(){}\[\],]|"(?:[^"\\]|\\.)*"')


def split_top_level(text: str) -> list[str]:
    """Split at the commas that stand outside all brackets and quotes."""
    parts, depth, begin = [], 0, 0
    for match in _BRACKETS.finditer(text):
        token = match[0]
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif token == "," and depth == 0:
            parts.append(text[begin : match.start()].strip())
            begin = match.end()
    last = text[begin:].strip()
    return [*parts, last] if last else parts
