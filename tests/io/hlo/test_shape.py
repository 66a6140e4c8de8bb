"""Shapes: how they are written, and the bytes they take."""

from __future__ import annotations

import pytest

from hybridalloc.io.hlo.shape import parse_shape, split_top_level


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("f32[]", 4),
        ("f32[3,5]", 3 * 5 * 4),
        ("f32[3,5]{1,0}", 3 * 5 * 4),
        ("bf16[3,5]{0,1}", 3 * 5 * 2),
        ("c64[10]{0}", 10 * 8),
        ("pred[7]{0}", 7),
        ("f8e4m3fn[7]{0}", 7),
        ("u8[0]{0}", 0),
        ("f32[4,0,2]", 0),
        ("token[]", 0),
    ],
)
def test_without_tiles_an_array_takes_its_elements(text: str, size: int) -> None:
    assert parse_shape(text).size == size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        # Scalars and vectors fill one tile: 1 -> 128, 200 -> 2 tiles of 128.
        ("f32[]{:T(128)}", 128 * 4),
        ("f32[200]{0:T(128)}", 2 * 128 * 4),
        # Both minor dimensions padded: 5 -> 8, 300 -> 3 * 128.
        ("f32[5,300]{1,0:T(8,128)}", 8 * 384 * 4),
        # The layout says which dimension is minor: 5 -> 128, 300 -> 304.
        ("f32[5,300]{0,1:T(8,128)}", 304 * 128 * 4),
        # Major dimensions stay as they are: 3 slabs.
        ("f32[3,5,300]{2,1,0:T(8,128)}", 3 * 8 * 384 * 4),
        # A second level cuts the tile itself, here without a rest.
        ("bf16[5,300]{1,0:T(8,128)(2,1)}", 8 * 384 * 2),
        # ... and pads it where it does not fit: rows 3 -> 4 of each tile.
        ("bf16[3,128]{1,0:T(3,128)(2,1)}", 4 * 128 * 2),
        ("bf16[300]{0:T(1024)(128)(2,1)}", 1024 * 2),
        # A tile of more dimensions than the array: as if it had 1 row.
        ("f32[300]{0:T(8,128)}", 8 * 384 * 4),
        ("f32[]{:T(8,128)}", 8 * 128 * 4),
        # A star merges a dimension into the next: 3 * 5 = 15 -> 16 rows.
        ("f32[3,5,128]{2,1,0:T(*,8,128)}", 16 * 128 * 4),
        # Nothing stays nothing.
        ("f32[0,128]{1,0:T(8,128)}", 0),
    ],
)
def test_tiles_pad_the_minor_dimensions(text: str, size: int) -> None:
    assert parse_shape(text).size == size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("s4[3,5]", 15),
        ("s4[3,5]{1,0:E(4)}", 8),  # 15 halves, rounded up
        ("u4[8,128]{1,0:T(8,128)E(4)}", 8 * 128 // 2),
        ("f4e2m1fn[16]{0:E(4)}", 8),
        ("pred[8,128]{1,0:T(8,128)E(32)}", 8 * 128 * 4),
    ],
)
def test_elements_of_less_than_a_byte_are_packed_only_if_the_layout_says_so(
    text: str, size: int
) -> None:
    assert parse_shape(text).size == size


def test_the_tail_is_filled_up_to_the_alignment_of_the_layout() -> None:
    assert parse_shape("f32[3]{0:L(512)}").size == 512 * 4
    assert parse_shape("f32[1025]{0:T(128)L(1024)}").size == 2048 * 4  # 1152 -> 2048


@pytest.mark.parametrize(
    ("text", "dims"),
    [
        ("f32[<=8,2]", (8, 2)),  # at most 8
        ("f32[?,2]", (0, 2)),  # unbounded
        ("b(f32[4]{0})", (4,)),  # a buffer that a custom call changes
        ("f32[2,/*index=1*/3]", (2, 3)),
        ("s32[2]{0:D(D)S(5)}", (2,)),
    ],
)
def test_unusual_arrays_are_understood(text: str, dims: tuple[int, ...]) -> None:
    assert parse_shape(text).dims == dims


@pytest.mark.parametrize(
    ("text", "space"),
    [
        ("f32[2]{0:T(128)S(3)}", 3),
        ("f32[2]{0:S(5)}", 5),
        ("f32[2]{0:T(128)}", 0),
        ("f32[2]{0:SC(0:1)}", 0),  # where it is split between cores
    ],
)
def test_the_memory_space_is_a_property_of_the_layout(text: str, space: int) -> None:
    assert parse_shape(text).memory_space == space


def test_a_tuple_has_elements_and_the_size_of_its_index_table() -> None:
    shape = parse_shape("(f32[2]{0:T(128)}, (s32[], token[]), /*index=2*/pred[4])")
    leaves = [(index, leaf.dtype) for index, leaf in shape.leaves]
    assert leaves == [
        ((0,), "f32"),
        ((1, 0), "s32"),
        ((1, 1), "token"),
        ((2,), "pred"),
    ]
    assert shape.size == 3 * 8
    assert shape.at((1, 0)).dtype == "s32"
    assert list(parse_shape("()").leaves) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "expected a shape, got ''"),
        ("f32", "expected a shape"),
        ("f32[2", "expected a shape"),
        ("(f32[2]", "unfinished tuple shape"),
        ("q7[2]", "unknown element type 'q7'"),
        ("f32[two]", "not a shape: 'f32[two]'"),
        ("f32[-2]", "dimensions must not be negative"),
        ("f32[2]{1}", "the layout does not fit the dimensions"),
        ("f32[2]{0:T(0)}", "tiles and their alignment must be positive"),
        ("f32[2]{0:S()}", "not a shape"),
        # 2**40 * 2**20 * 4 bytes
        ("f32[1099511627776,1048576]", "4611686018427387904 bytes are more than any"),
    ],
)
def test_what_is_no_shape_is_an_error(text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_shape(text)
    assert expected in str(caught.value)


def test_a_list_is_split_outside_of_brackets_and_quotes_only() -> None:
    text = 'a={1,2}, b="x, \\" y", c=[3,4]T(1,0),d'
    assert split_top_level(text) == ["a={1,2}", 'b="x, \\" y"', "c=[3,4]T(1,0)", "d"]
    assert split_top_level("") == []
