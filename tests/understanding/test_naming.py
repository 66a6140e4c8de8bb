"""What people type for a buffer."""

from __future__ import annotations

import pytest

from hybridalloc.errors import UsageError
from hybridalloc.program import Buffer, Instruction, Program
from hybridalloc.understanding import find_buffer

NAMES = ("fusion.1", "fusion.12", "weights{0}", "copy.fusion")
PROGRAM = Program("some", (Instruction("i"),), tuple(Buffer(x, 8) for x in NAMES))


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("fusion.1", 0),
        ("fusion.12", 1),
        ("weig", 2),
        ("{0}", 2),
        ("copy", 3),
        ("#3", 3),
    ],
)
def test_a_name_a_part_of_one_name_or_an_index_means_a_buffer(
    text: str, index: int
) -> None:
    assert find_buffer(PROGRAM, text) == index


def test_an_index_means_a_buffer() -> None:
    assert find_buffer(PROGRAM, 3) == 3
    for index in (-1, 4):
        with pytest.raises(UsageError, match=f"#{index}: some has 4 .* #0 to #3"):
            find_buffer(PROGRAM, index)


def test_a_beginning_goes_before_a_part_in_the_middle() -> None:
    program = Program("p", PROGRAM.instructions, (Buffer("ab", 8), Buffer("b", 8)))
    assert find_buffer(program, "b") == 1
    assert find_buffer(program, "a") == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fus", "2 names of some have it in them: fusion.1, fusion.12 "),
        ("fusoin.1", "did you mean fusion.1"),
        ("qqqqqqqq", "expected a name, such as fusion.1, .* or #0 to #3"),
        ("", "unknown buffer ''"),
        ("#4", "some has 4 buffers"),
        ("#" + "9" * 5000, "unknown buffer"),
        ("#٣", "unknown buffer"),
    ],
)
def test_what_means_no_buffer_or_several_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_buffer(PROGRAM, text)
