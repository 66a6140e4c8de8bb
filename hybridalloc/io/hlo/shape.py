"""Shapes of HLO values, and the bytes they take in memory."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from hybridalloc.program import MAX_BYTES

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
    tail_alignment: int = 1
    """The padded array is filled up to a multiple of this many elements."""
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
        bits = element_bits(self.dtype)
        if bits:  # those of less than a byte are packed only where the layout says so
            bits = self.element_size_bits or max(bits, 8)
        count = -(-math.prod(self.physical_dims) // self.tail_alignment)
        return -(-count * self.tail_alignment * bits // 8)

    @cached_property
    def leaves(self) -> tuple[tuple[ShapeIndex, Shape], ...]:
        """Every array in it, with its index."""
        if not self.is_tuple:
            return (((), self),)
        return tuple(
            ((position, *index), leaf)
            for position, element in enumerate(self.elements)
            for index, leaf in element.leaves
        )

    @cached_property
    def structure(self) -> tuple[tuple[ShapeIndex, bool], ...]:
        """Where it has arrays, and which of them are tokens."""
        return tuple((index, leaf.dtype == "token") for index, leaf in self.leaves)

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


_ARRAY = re.compile(r"([a-z][a-z0-9]*)\[([^\]]*)\](?:\{([^{}]*)\})?")
_BUFFER = re.compile(r"b\((.*)\)")
_TILE = re.compile(r"\(([^()]*)\)")
_PROPERTY = re.compile(r"([A-Z]+)((?:\([^()]*\))+)")
COMMENT = re.compile(r"/\*.*?\*/")


@lru_cache(maxsize=65536)
def parse_shape(text: str) -> Shape:
    """Parse a shape such as ``bf16[8,128]{1,0:T(8,128)(2,1)S(3)}`` or a tuple.

    Raises:
        ValueError: The text is no shape.
    """
    text = COMMENT.sub("", text).strip()
    if text.startswith("("):
        if not text.endswith(")"):
            raise ValueError(f"unfinished tuple shape {text[:60]!r}")
        parts = split_top_level(text[1:-1])
        return Shape("tuple", elements=tuple(map(parse_shape, parts)))
    if match := _BUFFER.fullmatch(text):
        return parse_shape(match[1])
    match = _ARRAY.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a shape, got {text[:60]!r}")
    dtype, dims, layout = match.groups()
    try:
        sizes = tuple(int(dim.lstrip("<= ").rstrip("?") or 0) for dim in _list(dims))
        shape = _with_layout(Shape(dtype, sizes), layout or "")
        _check(shape)
    except (ValueError, IndexError) as error:
        raise ValueError(f"not a shape: {text[:60]!r} ({error})") from error
    return shape


def _check(shape: Shape) -> None:
    element_bits(shape.dtype)
    order = shape.minor_to_major
    if order is not None and sorted(order) != list(range(len(shape.dims))):
        raise ValueError("the layout does not fit the dimensions")
    tile_sizes = [size for tile in shape.tiles for size in tile if size != -1]
    if min([shape.tail_alignment, *tile_sizes]) < 1:
        raise ValueError("tiles and their alignment must be positive")
    if min([shape.element_size_bits, *shape.dims]) < 0:
        raise ValueError("dimensions must not be negative")
    if shape.size >= MAX_BYTES:
        raise ValueError(f"{shape.size} bytes are more than any memory has")


def _list(text: str) -> list[str]:
    return [part for part in text.split(",") if part.strip()]


def _integers(text: str) -> tuple[int, ...]:
    return tuple(-1 if part.strip() == "*" else int(part) for part in _list(text))


def _with_layout(shape: Shape, text: str) -> Shape:
    order, _, properties = text.partition(":")
    if order.strip():
        shape = replace(shape, minor_to_major=_integers(order))
    for name, groups in _PROPERTY.findall(properties):
        if name == "T":
            tiles = tuple(map(_integers, _TILE.findall(groups)))
            shape = replace(shape, tiles=tiles)
        elif name == "S":
            shape = replace(shape, memory_space=int(groups[1:-1]))
        elif name == "E":
            shape = replace(shape, element_size_bits=int(groups[1:-1]))
        elif name == "L":
            shape = replace(shape, tail_alignment=int(groups[1:-1]))
    return shape


_NESTING = re.compile(r'[({\["]')
_BRACKETS = re.compile(r'[(){}\[\],]|"(?:[^"\\]|\\.)*"')


def split_top_level(text: str) -> list[str]:
    """Split at the commas that stand outside all brackets and quotes."""
    if _NESTING.search(text) is None:
        return [part for part in map(str.strip, text.split(",")) if part]
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
