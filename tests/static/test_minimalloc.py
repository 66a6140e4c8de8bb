from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from static_problems import small_problems

from hybridalloc.errors import InputError
from hybridalloc.io.minimalloc import (
    format_buffers,
    parse_buffers,
    read_buffers,
    write_buffers,
)
from hybridalloc.static.problem import Gap, StaticBuffer, StaticProblem

ONE = StaticBuffer("1", 18, 6, 12, alignment=2)
TWO = StaticBuffer("0", 15, 5, 10)


def parsed(text: str) -> tuple[StaticBuffer, ...]:
    return parse_buffers(text, Path("buffers.csv")).buffers


@given(problem=small_problems(), has_offsets=st.booleans())
def test_what_is_written_is_read_as_it_was(
    problem: StaticProblem, has_offsets: bool
) -> None:
    assert parsed(format_buffers(problem)) == problem.buffers
    if has_offsets:
        offsets = range(len(problem))
        read = parsed(format_buffers(problem, offsets))
        assert [x.offset for x in read] == list(offsets)


@pytest.mark.parametrize("name", ["id", "buffer", "buffer_id"])
@pytest.mark.parametrize("start", ["lower", "begin", "start"])
def test_columns_come_in_any_order_and_have_other_names(name: str, start: str) -> None:
    text = f"{start},size,{name},upper,alignment\n6,18,1,12,2\n5,15,0,10,1\n"
    assert parsed(text) == (ONE, TWO)


def test_the_end_is_inclusive_of_lives_and_gaps() -> None:
    text = "start,size,buffer,end,gaps\n6,18,a,11,7-8 \n5,15,b,9,\n"
    a, b = parsed(text)
    assert (a.start, a.end, b.end) == (6, 12, 10)
    assert a.gaps == (Gap(7, 9),)


def test_gaps_may_have_windows() -> None:
    (buffer,) = parsed("id,lower,upper,size,gaps\nb,5,20,15,9-11 12-14@2:13\n")
    assert buffer.gaps == (Gap(9, 11), Gap(12, 14, (2, 13)))


def test_hints_and_offsets_of_minus_one_or_nothing_are_none() -> None:
    text = "id,lower,upper,size,hint,offset\na,0,1,4,-1,8\nb,0,1,4,0,-1\nc,0,1,4,,\n"
    a, b, c = parsed(text)
    assert (a.hint, b.hint, c.hint) == (None, 0, None)
    assert (a.offset, b.offset, c.offset) == (8, None, None)


def test_reading_stops_at_the_first_blank_line() -> None:
    assert len(parsed("id,lower,upper,size\na,0,1,4\n\nnot,a,row\n")) == 1


def test_a_column_of_another_name_is_passed_over_with_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"\['aligment'\] are passed over; known: id"):
        problem = parse_buffers("id,lower,upper,size,aligment\na,0,1,2,4\n", "a.csv")
    assert problem.buffers[0].alignment == 1


def test_columns_that_say_nothing_are_left_out() -> None:
    gap = StaticBuffer("1", 18, 6, 12, 2, (Gap(7, 8), Gap(9, 10, (1, 17))))
    hint = StaticBuffer("0", 5, 5, 10, hint=0)
    assert format_buffers(StaticProblem("p", (hint, gap))) == (
        "id,lower,upper,size,alignment,hint,gaps\n"
        "0,5,10,5,1,0,\n1,6,12,18,2,-1,7-8 9-10@1:17\n"
    )
    assert format_buffers(StaticProblem("p", (TWO,)), [3]) == (
        "id,lower,upper,size,offset\n0,5,10,15,3\n"
    )


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "expected columns"),
        ("id,lower,size\n", 1, "expected a column upper"),
        ("id,lower,start,upper,size\n", 1, "two columns of the same meaning"),
        ("id,lower,upper,size\na,0,1\n", 2, "expected 4 fields, found 3"),
        ("id,lower,upper,size\na,0,x,4\n", 2, "upper 'x': expected a whole number"),
        ("id,lower,upper,size\na,3,1,4\n", 2, "expected start <= end"),
        ("id,lower,upper,size,gaps\na,0,9,4,5\n", 2, "gap '5': expected LOWER"),
        ("id,lower,upper,size,gaps\na,0,9,4,5-12\n", 2, "is not a part of its life"),
        ("id,lower,upper,size,gaps\na,0,9,4,5-6@2:7\n", 2, "window 2:7"),
        ("id,lower,upper,size\na,0,1,4\na,0,1,4\n", None, "two buffers are called"),
    ],
)
def test_a_fault_is_told_with_its_line(
    text: str, line: int | None, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parsed(text)
    assert caught.value.line == line


def test_the_capacity_is_that_of_the_name_unless_given(tmp_path: Path) -> None:
    path = tmp_path / "net.48.csv"
    write_buffers(path, StaticProblem("p", (ONE, TWO)))
    assert read_buffers(path).capacity == 48
    assert read_buffers(path, 20).capacity == 20
    path = path.rename(tmp_path / "net.csv")
    assert read_buffers(path).capacity is None


def test_a_name_with_a_comma_cannot_be_written(tmp_path: Path) -> None:
    problem = StaticProblem("p", (StaticBuffer("a,b", 4, 0, 1),))
    with pytest.raises(InputError, match="cannot stand"):
        write_buffers(tmp_path / "p.csv", problem)
