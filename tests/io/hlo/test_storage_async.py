"""Which values share storage around asynchronous instructions and collectives."""

from __future__ import annotations

import pytest
from hlo_texts import ADD, groups, shared

LEFT = """
left {
  lp = f32[8] parameter(0)
  ROOT lr = f32[8] negate(lp)
}
"""


def test_a_copy_start_holds_its_source_and_a_done_returns_the_destination() -> None:
    entry = """
  x = f32[8] parameter(0)
  s = (f32[8], f32[8], u32[]) copy-start(x)
  d = f32[8] copy-done(s)
"""
    assert groups(entry) == ["x s{1}", "s{0} d", "s{2}"]


@pytest.mark.parametrize(
    ("shape", "opcode", "attributes"),
    [
        ("(f32[8], f32[16])", "all-gather", ""),
        ("(f32[8], f32[16], u32[], u32[])", "collective-permute", ""),
        ("((f32[8]), f32[16])", "reduce-scatter", ""),
        ("((f32[8]), f32[16], u32[])", "slice", ", slice={[0:16]}"),
        ("((f32[8]), f32[16], u32[])", "custom-call", ', custom_call_target="f"'),
    ],
)
def test_other_starts_hold_their_operands_first_and_their_result_second(
    shape: str, opcode: str, attributes: str
) -> None:
    entry = f"""
  x = f32[8] parameter(0)
  s = {shape} {opcode}-start(x){attributes}
  d = f32[16] {opcode}-done(s)
"""
    held = "s{0,0}" if shape.startswith("((") else "s{0}"
    assert shared(entry) == [f"x {held}", "s{1} d"]


def test_a_start_of_several_operands_holds_each() -> None:
    entry = """
  x = f32[8] parameter(0)
  y = f32[9] parameter(1)
  s = ((f32[8], f32[9]), (f32[16], f32[18])) all-gather-start(x, y)
  d = (f32[16], f32[18]) all-gather-done(s)
"""
    assert groups(entry) == ["x s{0,0}", "y s{0,1}", "s{1,0} d{0}", "s{1,1} d{1}"]


def test_a_start_that_returns_its_result_alone_holds_nothing() -> None:
    entry = """
  x = f32[8] parameter(0)
  s = f32[16] all-gather-start(x)
  d = f32[16] all-gather-done(s)
"""
    assert groups(entry) == ["x", "s d"]


def test_an_all_reduce_start_is_made_in_place() -> None:
    one = """
  x = f32[8] parameter(0)
  s = f32[8] all-reduce-start(x), to_apply=add
  d = f32[8] all-reduce-done(s)
"""
    assert groups(one, ADD) == ["x s d"]
    two = """
  x = f32[8] parameter(0)
  y = f32[9] parameter(1)
  s = (f32[8], f32[9]) all-reduce-start(x, y), to_apply=add
  d = (f32[8], f32[9]) all-reduce-done(s)
"""
    assert groups(two, ADD) == ["x s{0} d{0}", "y s{1} d{1}"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("c = f32[8] ragged-all-to-all(x, o, i, i)", "o c"),
        ("c = f32[8] collective-permute(x, o, i, i), slice_sizes={{8}}", "o c"),
    ],
)
def test_some_collectives_write_into_their_second_operand(
    line: str, expected: str
) -> None:
    entry = f"""
  x = f32[8] parameter(0)
  o = f32[8] parameter(1)
  i = s32[4] parameter(2)
  {line}
"""
    assert shared(entry) == [expected]


def test_a_permute_start_may_write_into_its_second_operand() -> None:
    shape = "(f32[8], f32[9], u32[])"
    entry = f"""
  x = f32[8] parameter(0)
  o = f32[9] parameter(1)
  i = s32[] parameter(2)
  s = {shape} collective-permute-start(x, o, i, i), slice_sizes={{{{8}}}}
  d = f32[9] collective-permute-done(s)
"""
    assert shared(entry) == ["x s{0}", "o s{1} d"]


def test_an_asynchronous_computation_takes_and_returns_what_its_start_does() -> None:
    entry = """
  x = f32[8] parameter(0)
  s = ((f32[8]), f32[8], u32[]) async-start(x), calls=left
  u = ((f32[8]), f32[8], u32[]) async-update(s)
  d = f32[8] async-done(u)
"""
    assert groups(entry, LEFT) == [
        "x lp s{0,0} u{0,0}",
        "lr s{1} u{1} d",
        "s{2} u{2}",
    ]


def test_sent_data_is_held_and_received_data_returned() -> None:
    entry = """
  x = f32[8] parameter(0)
  t = token[] after-all()
  s = (f32[8], u32[], token[]) send(x, t), channel_id=1
  e = token[] send-done(s), channel_id=1
  r = (f32[9], u32[], token[]) recv(t), channel_id=2
  d = (f32[9], token[]) recv-done(r), channel_id=2
  y = f32[9] get-tuple-element(d), index=0
"""
    assert groups(entry) == ["x s{0}", "s{1}", "r{0} d{0} y", "r{1}"]
