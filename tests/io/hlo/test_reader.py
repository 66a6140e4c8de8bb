"""From text to program: accesses, buffers and what is told of them."""

from __future__ import annotations

import pytest
from hlo_texts import FLOPS_PER_SECOND, accesses, hlo_text, read

from hybridalloc.io.hlo.reader import InputWarning, read_module
from hybridalloc.program import Access, Buffer, Loop, Memory

KIB = 1024  # f32[256] takes 1 KiB


def test_operands_come_first_and_add_up_and_the_output_is_written_whole() -> None:
    hlo = read("""
  x = f32[256] parameter(0)
  y = f32[256] parameter(1)
  a = f32[256] add(y, x)
  b = f32[256] multiply(a, a)
""")
    program = hlo.program
    assert [buffer.name for buffer in program.buffers] == ["x", "y", "a", "b"]
    assert program.instructions[2].accesses == (
        Access(1, read_bytes=KIB),
        Access(0, read_bytes=KIB),
        Access(2, write_bytes=KIB, whole=True),
    )
    assert accesses(hlo, "b") == {
        "a": Access(2, read_bytes=2 * KIB),  # an operand taken twice
        "b": Access(3, write_bytes=KIB, whole=True),
    }


def test_compute_time_is_the_operations_at_the_peak_rate() -> None:
    program = read("x = f32[256] parameter(0)\ny = f32[256] negate(x)").program
    assert [i.compute_s for i in program.instructions] == [0, 256 / FLOPS_PER_SECOND]


def test_an_update_in_place_reads_and_writes_its_part_only() -> None:
    hlo = read("""
  p = f32[256] parameter(0)
  u = f32[64] parameter(1)
  i = s32[] parameter(2)
  x = f32[256] copy(p)
  y = f32[256] dynamic-update-slice(x, u, i)
""")
    done = accesses(hlo, "y")
    assert list(done) == ["x", "u", "i"]
    # It reads the update's 256 bytes, and writes them; the rest of x is kept.
    assert (done["x"].read_bytes, done["x"].write_bytes) == (0, 256)
    assert not done["x"].whole
    assert (done["u"].read_bytes, done["i"].read_bytes) == (256, 4)


def test_a_slice_reads_its_part_only() -> None:
    hlo = read(
        "x = f32[256] parameter(0)\ny = f32[64] slice(x), slice={[0:64]}",
    )
    assert accesses(hlo, "y")["x"].read_bytes == 256


def test_allocate_buffer_is_a_free_write_of_the_whole_buffer() -> None:
    hlo = read("""
  u = f32[64] parameter(0)
  i = s32[] parameter(1)
  x = f32[256] custom-call(), custom_call_target="AllocateBuffer"
  y = f32[256] dynamic-update-slice(x, u, i)
""")
    assert accesses(hlo, "x") == {"x": Access(2, write_bytes=0, whole=True)}
    assert hlo.program.buffers[2] == Buffer("x", KIB, is_output=True)


def test_a_donated_parameter_is_input_and_output_and_written_in_place() -> None:
    hlo = read(
        """
  x = f32[256] parameter(0)
  y = f32[256] negate(x)
  r = (f32[256]) tuple(y)
""",
        header="input_output_alias={ {0}: (0, {}, may-alias) }",
    )
    donated = Buffer("x", KIB, is_input=True, is_output=True, cross_program=False)
    assert hlo.program.buffers == (donated,)
    assert accesses(hlo, "y") == {"x": Access(0, read_bytes=KIB, write_bytes=KIB)}


def test_a_parameter_that_is_returned_or_not_used_is_a_buffer_too() -> None:
    program = read("""
  x = f32[256] parameter(0)
  y = (f32[9], f32[9]) parameter(1)
  z = f32[9] get-tuple-element(y), index=1
  r = (f32[256]) tuple(x)
""").program
    assert program.buffers == (
        Buffer("x", KIB, is_input=True, is_output=True, cross_program=False),
        Buffer("y{0}", 36, is_input=True),
        Buffer("y{1}", 36, is_input=True),
    )
    assert all(instruction.accesses == () for instruction in program.instructions)


def test_a_constant_is_an_input_that_may_be_in_fast_memory() -> None:
    program = read("""
  x = f32[256] parameter(0)
  c = f32[256] constant({...})
  unused = f32[256] constant({...})
  y = f32[256] add(x, c)
""").program
    constant = Buffer("c", KIB, is_input=True, cross_program=False, memory=Memory.ANY)
    assert program.buffers[1] == constant
    assert [buffer.name for buffer in program.buffers] == ["x", "c", "y"]


@pytest.mark.parametrize(
    ("shape", "memory"),
    [
        ("f32[256]{0}", Memory.ANY),
        ("f32[1,2]{1,0:T(8,128)}", Memory.ANY),
        ("f32[]{:T(128)}", Memory.SLOW),
        ("f32[1,1]{1,0:T(8,128)}", Memory.SLOW),
        ("f32[256]{0:T(128)S(6)}", Memory.SLOW),
    ],
)
def test_scalars_and_values_of_another_memory_space_stay_in_slow_memory(
    shape: str, memory: Memory
) -> None:
    program = read(f"x = {shape} parameter(0)\ny = f32[256]{{0}} broadcast(x)").program
    assert program.buffers[0].memory is memory


def test_unknown_instructions_cost_their_bytes_and_are_named_in_one_warning() -> None:
    with pytest.warns(InputWarning) as caught:
        hlo = read("""
  x = f32[256] parameter(0)
  y = f32[64] frobnicate(x)
  z = f32[32] custom-call(y), custom_call_target="magic"
  w = f32[64] frobnicate(y)
""")
    assert [str(warning.message) for warning in caught] == [
        "unknown instructions were taken to cost their bytes alone: frobnicate, magic"
    ]
    assert accesses(hlo, "y") == {
        "x": Access(0, read_bytes=KIB),
        "y": Access(1, write_bytes=256, whole=True),
    }
    assert all(i.compute_s == 0 for i in hlo.program.instructions)


def test_loops_and_branches_keep_their_buffers_together() -> None:
    called = """
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
  by = f32[256] negate(bx)
  ROOT br = (s32[], f32[256]) tuple(bn, by)
}
"""
    hlo = read(
        """
  zero = s32[] constant(0)
  i = s32[] copy(zero)
  p = f32[256] parameter(0)
  x = f32[256] copy(p)
  t = (s32[], f32[256]) tuple(i, x)
  w = (s32[], f32[256]) while(t), condition=cond, body=body
  y = f32[256] get-tuple-element(w), index=1
  z = f32[256] negate(y)
""",
        called,
    )
    # zero i p x t are 0 to 4, the condition 5 to 8, the body 9 to 15.
    assert hlo.program.loops == (Loop(5, 16, 10),)
    assert accesses(hlo, "by") == {"x": Access(hlo.program.buffer_index["x"], KIB, KIB)}
    assert accesses(hlo, "z")["x"].read_bytes == KIB
    assert hlo.program.instructions[16].accesses == ()  # the while itself


def test_values_of_one_name_get_different_buffers() -> None:
    called = "f {\n  p = f32[256] parameter(0)\n  ROOT n = f32[256] negate(p)\n}"
    program = read(
        """
  x = f32[256] parameter(0)
  a = f32[256] call(x), to_apply=f
  b = f32[256] call(a), to_apply=f
""",
        called,
    ).program
    assert [buffer.name for buffer in program.buffers] == ["x", "n", "n#2"]


def test_a_buffer_is_as_large_as_the_largest_value_in_it() -> None:
    program = read("""
  x = f32[2,128]{1,0:T(8,128)} parameter(0)
  y = f32[256]{0:T(128)} bitcast(x)
""").program
    assert program.buffers == (Buffer("x", 8 * 128 * 4, is_input=True, is_output=True),)


def test_a_text_without_layouts_is_read_as_with_row_major_ones() -> None:
    def text(layout: str) -> str:
        return hlo_text(
            f"x = f32[4,8]{layout} parameter(0)\ny = f32[4,8]{layout} negate(x)"
        )

    plain, laid_out = (
        read_module(text(layout), "p", 1e12).program for layout in ("", "{1,0}")
    )
    assert plain == laid_out


def test_the_name_is_the_modules_unless_another_is_given() -> None:
    text = hlo_text("x = f32[256] parameter(0)")
    assert read_module(text, None, 1e12).program.name == "m"
    assert read_module(text, "other", 1e12).program.name == "other"
