"""Damaged texts: an error or a program, never a crash."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hlo_texts import ADD, hlo_text, read
from hypothesis import given
from hypothesis import strategies as st

from hybridalloc.io.hlo.reader import read_module

EVERYTHING = (
    ADD.strip()
    + """
f {
  p = f32[256] parameter(0)
  q = s32[] parameter(1)
  ROOT u = f32[256] dynamic-update-slice(p, p, q)
}
cond {
  cp = (s32[], f32[256]) parameter(0)
  ci = s32[] get-tuple-element(cp), index=0
  ten = s32[] constant(10)
  ROOT lt = pred[] compare(ci, ten), direction=LT
}
body {
  bp = (s32[], f32[256]) parameter(0)
  bi = s32[] get-tuple-element(bp), index=0
  bx = f32[256] get-tuple-element(bp), index=1
  one = s32[] constant(1)
  bn = s32[] add(bi, one)
  by = f32[256] fusion(bx, bi), kind=kLoop, calls=f
  ROOT br = (s32[], f32[256]) tuple(bn, by)
}"""
)
ENTRY = """
  i = s32[] constant(0)
  x = f32[256]{0:T(128)} parameter(0)
  t = (s32[], f32[256]) tuple(i, x)
  w = (s32[], f32[256]) while(t), condition=cond, body=body
  y = f32[256] get-tuple-element(w), index=1
  r = f32[] reduce(y, i), dimensions={0}, to_apply=add
  s = f32[8] gather(y, i), offset_dims={0}, slice_sizes={8}
  c = f32[256] scatter(y, i, s), to_apply=add, update_window_dims={}
  m = f32[16,16] bitcast(c)
  v = f32[16,16] convolution(m, m), dim_labels=bf_io->bf
  e = (f32[256], f32[256], u32[]) copy-start(y)
  d = f32[256] copy-done(e)
  n = ((f32[256], s32[]), f32[256], u32[]) async-start(y, i), calls=f
  k = f32[256] async-done(n)
  g = f32[256] all-reduce-start(k), to_apply=add
  o = (s32[], f32[256]) conditional(i, t, t), branch_computations={body, body}
"""


def test_the_text_to_be_damaged_is_a_program() -> None:
    # The entry has 16, the while's computations 4 + 7, that of the start 3, each of
    # the conditional's branches 7.
    assert len(read(ENTRY, EVERYTHING).program) == 16 + 11 + 3 + 14


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(st.data())
def test_no_damage_to_a_text_makes_the_reader_crash(data: st.DataObject) -> None:
    """Pieces of lines are dropped, doubled or exchanged: an error, or a program."""
    text = hlo_text(ENTRY, EVERYTHING)
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(text) - 1))
        end = begin + data.draw(st.integers(0, 12))
        other = data.draw(st.integers(0, len(text) - 1))
        piece = data.draw(st.sampled_from(["", "9", "(", "}", text[other : other + 6]]))
        text = text[:begin] + piece + text[end:]
    with suppress(ValueError):
        assert len(read_module(text, None, 1e12).program) > 0
