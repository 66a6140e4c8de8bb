"""How often loops run, from the text of counters written by hand."""

from __future__ import annotations

import pytest
from hlo_texts import flat

STATE = "(s32[], s32[], f32[8])"


def trips(
    condition: str = "lt = pred[] compare(i, n), direction=LT",
    body: str = "next = s32[] add(i, one)",
    *,
    start: str = "s32[] constant(0)",
    limit: str = "s32[] constant(10)",
    passed: str = "n",
    extra: str = "",
    attributes: str = "",
) -> int:
    """Trips of a loop whose state is (i, n, data); ``n`` is the limit.

    The last line of ``condition`` is the root, ``next`` in ``body`` the new counter,
    ``passed`` the new limit.
    """
    head = f"""
  state = {STATE} parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] get-tuple-element(state), index=1
  one = s32[] constant(1)
  ten = s32[] constant(10)
"""
    called = f"""
{extra}
cond {{{head}  {condition}
}}
body {{{head}  data = f32[8] get-tuple-element(state), index=2
  {body}
  ROOT new = {STATE} tuple(next, {passed}, data)
}}
"""
    entry = f"""
  x = f32[8] parameter(0)
  zero = s32[] constant(0)
  start = {start}
  limit = {limit}
  init = {STATE} tuple(start, limit, x)
  loop = {STATE} while(init), condition=cond, body=body{attributes}
"""
    (loop,) = flat(entry, called).loops
    return loop.trip_count


UNKNOWN = 5  # what XLA assumes


@pytest.mark.parametrize(
    ("start", "step", "direction", "bound", "expected"),
    [
        (0, 1, "LT", 10, 10),
        (3, 1, "LT", 10, 7),
        (0, 3, "LT", 10, 4),  # 0 3 6 9
        (0, 3, "LE", 9, 4),  # 0 3 6 9
        (0, 3, "LE", 8, 3),  # 0 3 6
        (10, -1, "GT", 0, 10),
        (10, -3, "GT", 0, 4),  # 10 7 4 1
        (9, -3, "GE", 0, 4),  # 9 6 3 0
        (0, 2, "NE", 10, 5),
        (10, -2, "NE", 0, 5),
        (-4, 1, "LT", 4, 8),
        # Not once.
        (10, 1, "LT", 10, 0),
        (0, 1, "GT", 9, 0),
        (4, 1, "NE", 4, 0),
        # Never ends, or only by overflow.
        (0, 1, "NE", -3, UNKNOWN),
        (0, 3, "NE", 10, UNKNOWN),
        (0, -1, "LT", 10, UNKNOWN),
        (0, 0, "LT", 10, UNKNOWN),
        (0, 1, "GE", 0, UNKNOWN),
        (0, 1, "EQ", 0, UNKNOWN),
    ],
)
def test_a_counter_that_is_compared_with_a_constant_is_counted(
    start: int, step: int, direction: str, bound: int, expected: int
) -> None:
    counted = trips(
        f"b = s32[] constant({bound})\n"
        f"  lt = pred[] compare(i, b), direction={direction}",
        f"s = s32[] constant({step})\n  next = s32[] add(i, s)",
        start=f"s32[] constant({start})",
    )
    assert counted == expected


def test_the_sides_of_the_comparison_and_of_the_addition_may_be_swapped() -> None:
    assert trips("gt = pred[] compare(ten, i), direction=GT") == 10
    assert trips(body="next = s32[] add(one, i)") == 10
    assert trips("ne = pred[] compare(ten, i), direction=NE") == 10


def test_a_counter_may_count_down_by_subtraction() -> None:
    counted = trips(
        "gt = pred[] compare(i, one), direction=GT",
        "next = s32[] subtract(i, one)",
        start="s32[] constant(10)",
    )
    assert counted == 9  # 10 ... 2


def test_a_constant_minus_the_counter_is_no_counter() -> None:
    assert trips(body="next = s32[] subtract(one, i)") == UNKNOWN


def test_the_comparison_may_be_with_the_next_value() -> None:
    condition = "j = s32[] add(i, one)\n  lt = pred[] compare(j, ten), direction=LT"
    assert trips(condition) == 9  # i + 1 < 10: 0 ... 8


def test_the_bound_may_be_carried_unchanged_in_the_tuple() -> None:
    assert trips(limit="s32[] constant(6)") == 6
    assert trips(limit="s32[] constant(6)", passed="next") == UNKNOWN
    assert trips(limit="s32[] parameter(1)") == UNKNOWN


def test_the_start_must_be_a_constant() -> None:
    assert trips(start="s32[] parameter(1)") == UNKNOWN
    assert trips(start="s32[] constant({...})") == UNKNOWN


def test_copies_conversions_and_bitcasts_are_looked_through() -> None:
    counted = trips(
        "c = s32[] copy(i)\n  d = s64[] convert(c)\n  e = s64[1] bitcast(d)\n"
        "  lt = pred[] compare(e, ten), direction=LT",
        "cs = (s32[], s32[], u32[]) copy-start(i)\n  cd = s32[] copy-done(cs)\n"
        "  sum = s32[] add(cd, one)\n  next = s32[] copy(sum)",
        start="s32[] copy(zero)",
    )
    assert counted == 10


FUSED = """
fused_lt {
  p.0 = s32[] parameter(0)
  p.1 = s32[] parameter(1)
  ROOT r.0 = pred[] compare(p.1, p.0), direction=LT
}
fused_add {
  p.2 = s32[] parameter(0)
  c.2 = s32[] constant(2)
  ROOT r.2 = s32[] add(p.2, c.2)
}
pick {
  p.3 = (s32[], s32[]) parameter(0)
  ROOT r.3 = s32[] get-tuple-element(p.3), index=0
}
"""


def test_comparison_and_addition_may_be_fused() -> None:
    counted = trips(
        "f = pred[] fusion(ten, i), kind=kLoop, calls=fused_lt\n  r = pred[] copy(f)",
        "next = s32[] fusion(i), kind=kLoop, calls=fused_add",
        start="s32[] constant(-2)",
        extra=FUSED,
    )
    assert counted == len(range(-2, 10, 2)) == 6


def test_an_element_of_another_tuple_is_not_taken_for_the_loops() -> None:
    # The fused parameter is the tuple (n, n): its element 0 is the limit, not i.
    counted = trips(
        "pair = (s32[], s32[]) tuple(n, n)\n"
        "  f = s32[] fusion(pair), kind=kLoop, calls=pick\n"
        "  lt = pred[] compare(f, ten), direction=LT",
        extra=FUSED,
    )
    assert counted == UNKNOWN


@pytest.mark.parametrize(
    "condition",
    [
        "lt = pred[] constant(true)",
        "lt = pred[] and(i, n)",
        "lt = pred[] compare(one, ten), direction=LT",
        "lt = pred[] compare(i, n), direction=XX",
        "m = s32[] multiply(i, n)\n  lt = pred[] compare(m, n), direction=LT",
    ],
)
def test_any_other_condition_is_not_known(condition: str) -> None:
    assert trips(condition) == UNKNOWN


def test_a_noted_trip_count_wins() -> None:
    noted = ', backend_config={"known_trip_count":{"n":"7"}}'
    assert trips(attributes=noted) == 7
    assert trips("lt = pred[] constant(true)", attributes=noted) == 7


def test_sums_of_sums_are_given_up_on_quickly() -> None:
    # Followed without end, 2**60 paths lead to the counter.
    lines = ["x0 = s32[] add(i, one)"]
    lines += [f"x{n} = s32[] add(x{n - 1}, x{n - 1})" for n in range(1, 60)]
    assert trips(body="\n  ".join([*lines, "next = s32[] copy(x59)"])) == UNKNOWN


def test_a_state_that_is_no_tuple_is_not_known() -> None:
    called = """
cond {
  i = s32[] parameter(0)
  ten = s32[] constant(10)
  ROOT lt = pred[] compare(i, ten), direction=LT
}
body {
  i = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT next = s32[] add(i, one)
}
"""
    entry = "x = s32[] constant(0)\nw = s32[] while(x), condition=cond, body=body"
    assert flat(entry, called).loops[0].trip_count == UNKNOWN
