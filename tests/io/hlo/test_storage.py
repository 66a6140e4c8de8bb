"""Which values share storage, on modules of a few lines."""

from __future__ import annotations

import pytest
from hlo_texts import ADD, groups, shared

from hybridalloc.io.hlo.parser import HloSyntaxError


def test_values_are_apart_unless_something_unites_them() -> None:
    entry = "x = f32[8] parameter(0)\ny = f32[8] negate(x)\nz = f32[8] copy(y)"
    assert groups(entry) == ["x", "y", "z"]


def test_a_tuple_and_its_elements_are_their_operands() -> None:
    entry = """
  x = f32[8] parameter(0)
  y = f32[9] parameter(1)
  inner = (f32[9], f32[8]) tuple(y, x)
  outer = ((f32[9], f32[8]), f32[8]) tuple(inner, x)
  back = (f32[9], f32[8]) get-tuple-element(outer), index=0
  element = f32[9] get-tuple-element(back), index=0
  b = f32[3,3] bitcast(element)
  z = f32[9] copy(element)
"""
    assert groups(entry) == [
        "x inner{1} outer{0,1} outer{1} back{1}",
        "y inner{0} outer{0,0} back{0} element b",
        "z",
    ]


@pytest.mark.parametrize("opcode", ["opt-barrier", "domain"])
def test_a_barrier_passes_on_each_array(opcode: str) -> None:
    entry = f"""
  x = (f32[8], s32[]) parameter(0)
  y = (f32[8], s32[]) {opcode}(x)
"""
    assert groups(entry) == ["x{0} y{0}", "x{1} y{1}"]


def test_tokens_take_no_storage() -> None:
    entry = """
  t = token[] after-all()
  x = f32[8] parameter(0)
  y = f32[8] add-dependency(x, t)
  z = (f32[8], token[]) tuple(y, t)
  o = opaque[] parameter(1)
"""
    assert groups(entry) == ["x y z{0}"]


def test_an_update_of_a_slice_is_made_in_its_first_operand() -> None:
    entry = """
  x = f32[8] parameter(0)
  u = f32[1] parameter(1)
  i = s32[] parameter(2)
  a = f32[8] dynamic-update-slice(x, u, i)
  b = f32[8] dynamic-update-slice(a, u, i)
"""
    assert shared(entry) == ["x a b"]


FUSED = """
root {
  x = f32[8] parameter(0)
  u = f32[1] parameter(1)
  i = s32[] parameter(2)
  ROOT r = f32[8] dynamic-update-slice(x, u, i)
}
second {
  u = f32[1] parameter(0)
  i = s32[] parameter(1)
  x = f32[2,4] parameter(2)
  b = f32[8] bitcast(x)
  d = f32[8] dynamic-update-slice(b, u, i)
  ROOT r = f32[2,4] bitcast(d)
}
several {
  x = f32[8] parameter(0)
  u = f32[1] parameter(1)
  i = s32[] parameter(2)
  n = f32[8] negate(x)
  d = f32[8] dynamic-update-slice(x, u, i)
  ROOT r = (f32[8], f32[8]) tuple(n, d)
}
nested {
  x = f32[8] parameter(0)
  u = f32[1] parameter(1)
  i = s32[] parameter(2)
  ROOT r = f32[8] fusion(x, u, i), kind=kLoop, calls=root
}
changed {
  x = f32[8] parameter(0)
  u = f32[1] parameter(1)
  i = s32[] parameter(2)
  n = f32[8] negate(x)
  ROOT r = f32[8] dynamic-update-slice(n, u, i)
}
inside {
  x = f32[8] parameter(0)
  u = f32[1] parameter(1)
  i = s32[] parameter(2)
  d = f32[8] dynamic-update-slice(x, u, i)
  ROOT r = f32[8] negate(d)
}
"""
GIVEN = """
  x = f32[8] parameter(0)
  u = f32[1] parameter(1)
  i = s32[] parameter(2)
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y = f32[8] fusion(x, u, i), calls=root", ["x y"]),
        ("y = (f32[8], f32[8]) fusion(x, u, i), calls=several", ["x y{1}"]),
        ("y = f32[8] fusion(x, u, i), calls=nested", ["x y"]),
        # What is updated is not the operand, or the output is not the update.
        ("y = f32[8] fusion(x, u, i), calls=changed", []),
        ("y = f32[8] fusion(x, u, i), calls=inside", []),
    ],
)
def test_a_fusion_is_in_place_if_an_update_of_its_operand_is_its_root(
    line: str, expected: list[str]
) -> None:
    assert shared(f"{GIVEN}  {line}", FUSED) == expected


def test_an_update_in_a_fusion_is_seen_through_bitcasts() -> None:
    entry = """
  x = f32[2,4] parameter(0)
  u = f32[1] parameter(1)
  i = s32[] parameter(2)
  y = f32[2,4] fusion(u, i, x), calls=second
"""
    assert shared(entry, FUSED) == ["x y"]


def test_a_scatter_is_made_in_the_arrays_that_it_scatters_into() -> None:
    entry = """
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  i = s32[2] parameter(2)
  u = f32[2] parameter(3)
  a = f32[8] scatter(x, i, u), to_apply=add
  b = (f32[8], f32[8]) scatter(a, y, i, u, u), to_apply=add
"""
    assert shared(entry, ADD) == ["x a b{0}", "y b{1}"]


def test_declared_aliases_share_storage() -> None:
    entry = """
  x = f32[8] parameter(0)
  y = (f32[8], f32[9]) parameter(1)
  c = (f32[9], f32[8], f32[8]) custom-call(x, y), custom_call_target="f", """
    entry += "output_to_operand_aliasing={{0}: (1, {1}), {2}: (0, {})}"
    assert shared(entry) == ["x c{2}", "y{1} c{0}"]


@pytest.mark.parametrize("line", ["set-dimension-size(x, i), dimensions={0}"])
def test_setting_a_size_leaves_the_elements_where_they_are(line: str) -> None:
    entry = f"x = f32[8] parameter(0)\ni = s32[] parameter(1)\ny = f32[<=8] {line}"
    assert shared(entry) == ["x y"]


STATE = "(s32[], f32[8], f32[9])"


def test_what_a_loop_carries_is_one_buffer_in_body_root_and_result() -> None:
    called = f"""
cond {{
  cp = {STATE} parameter(0)
  ROOT ct = pred[] custom-call(cp), custom_call_target="t"
}}
body {{
  bp = {STATE} parameter(0)
  i = s32[] get-tuple-element(bp), index=0
  a = f32[8] get-tuple-element(bp), index=1
  b = f32[9] get-tuple-element(bp), index=2
  n = f32[8] negate(a)
  ROOT br = {STATE} tuple(i, n, b)
}}
"""
    entry = f"""
  z = s32[] constant(0)
  x = f32[8] parameter(0)
  y = f32[9] parameter(1)
  t = {STATE} tuple(z, x, y)
  w = {STATE} while(t), condition=cond, body=body
  r = f32[8] get-tuple-element(w), index=1
"""
    assert shared(entry, called) == [
        "z t{0} cp{0} bp{0} i br{0} w{0}",
        "x t{1} cp{1} bp{1} a n br{1} w{1} r",
        "y t{2} cp{2} bp{2} b br{2} w{2}",
    ]
    assert "ct" in groups(entry, called)


BRANCHES = """
left {
  lp = f32[8] parameter(0)
  ROOT lr = f32[8] negate(lp)
}
right {
  ROOT rp = f32[8] parameter(0)
}
"""


def test_the_results_of_all_branches_are_that_of_the_conditional() -> None:
    entry = """
  p = s32[] parameter(0)
  x = f32[8] parameter(1)
  y = f32[8] parameter(2)
  c = f32[8] conditional(p, x, y), branch_computations={left, right}
"""
    # ``right`` passes its operand on, so that y is in the memory of the result.
    assert groups(entry, BRANCHES) == ["p", "x lp", "y lr rp c"]


def test_each_call_of_a_computation_has_values_of_its_own() -> None:
    entry = """
  x = f32[8] parameter(0)
  a = f32[8] call(x), to_apply=left
  b = f32[8] call(a), to_apply=left
"""
    assert groups(entry, BRANCHES) == ["x lp", "lr a lp", "lr b"]


def test_an_output_takes_over_the_memory_of_a_donated_parameter() -> None:
    entry = """
  x = f32[8] parameter(0)
  y = (f32[9], f32[9]) parameter(1)
  a = f32[8] negate(x)
  b = f32[9] get-tuple-element(y), index=0
  c = f32[9] negate(b)
  r = (f32[8], f32[9]) tuple(a, c)
"""
    header = "input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {1}) }"
    assert groups(entry, "", header) == ["x a r{0}", "y{0} b", "y{1} c r{1}"]


@pytest.mark.parametrize(
    "line",
    [
        "y = (f32[8]) scatter(x, x, x, x, x), to_apply=add",
        "y = f32[8] get-tuple-element(x), index=1",
        "y = f32[8] custom-call(x), output_to_operand_aliasing={{1}: (0, {})}",
        "y = f32[8] collective-permute-start(x, x), slice_sizes={{8}}",
    ],
)
def test_a_shape_that_does_not_fit_is_an_error_with_its_line(line: str) -> None:
    with pytest.raises(HloSyntaxError) as caught:
        groups(f"x = f32[8] parameter(0)\n{line}", ADD)
    # Line 1 is the module's, 3 to 7 are ADD, 9 is ENTRY, 10 is x.
    assert caught.value.line == 11
    assert "y" in str(caught.value)


def test_a_long_chain_of_updates_of_one_array_is_one_buffer() -> None:
    count = 10_000
    lines = [GIVEN.strip()] + [
        f"d{n} = f32[8] dynamic-update-slice({f'd{n - 1}' if n else 'x'}, u, i)"
        for n in range(count)
    ]
    found = groups("\n".join(lines))
    assert [len(group.split()) for group in found] == [count + 1, 1, 1]
