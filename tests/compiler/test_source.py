"""What is to be compiled, as users name it."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from hybridalloc.compiler.source import in_file, of_function, parse_shapes
from hybridalloc.errors import UsageError


def test_shapes_are_read_with_either_name_of_a_type() -> None:
    assert parse_shapes("pred[2], int8[3,4],f32[]") == [
        ("bool", (2,)),
        ("int8", (3, 4)),
        ("float32", ()),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected shapes such as"),
        ("f32[2", "expected shapes such as"),
        ("f32[2] f32[3]", "expected a comma"),
        ("f32[-1]", "expected shapes such as"),
        ("f33[2]", "unknown element type 'f33'"),
        ("bf16[2],,f32[1]", "expected shapes such as"),
        ("bf16[2],", "expected shapes such as"),
        ("f32[2,,3]", "expected shapes such as"),
    ],
)
def test_what_is_no_shape_is_named(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_shapes(text)


@pytest.mark.parametrize("given", ["f", "file.py", "file.py:", "f.txt:f", "f.py:a b"])
def test_a_program_is_a_file_and_a_function(given: str) -> None:
    with pytest.raises(UsageError, match=r"expected FILE\.py:function"):
        in_file(given, "f32[2]")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        in_file(f"{tmp_path}/none.py:f", "f32[2]")


def test_the_label_does_not_depend_on_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.touch()
    assert in_file(f"{path}:step", " weights ").label == "model.py:step weights"


def test_a_function_is_pickled_with_its_arguments() -> None:
    source = of_function(max, ([1, 3],))
    assert (source.name, source.label) == ("max", "max")
    function, arguments = pickle.loads(source.pickled)
    assert function(*arguments) == 3
