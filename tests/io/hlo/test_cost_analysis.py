"""Counting rules: each on a few lines of HLO, with the arithmetic beside it."""

from __future__ import annotations

import pytest

from hybridalloc.io.hlo.cost_analysis import CostAnalysis, InstructionCost
from hybridalloc.io.hlo.parser import HloSyntaxError, parse_module

ADD = """
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
"""


def analyse(body: str, called: str = ADD) -> tuple[CostAnalysis, InstructionCost]:
    """Costs of the last instruction of an entry computation with this body."""
    text = f"HloModule m, is_scheduled=true\n{called}\nENTRY main {{\n{body}\n}}\n"
    module = parse_module(text)
    analysis = CostAnalysis(module)
    return analysis, analysis.cost(module.entry.instructions[-1])


def cost(body: str, called: str = ADD) -> InstructionCost:
    return analyse(body, called)[1]


def fusion_reads(
    fused: str, parameter: str = "f32[8,128]"
) -> dict[tuple[int, ...], int]:
    """What a fusion with this computation, whose root is ``r``, reads of ``p``."""
    called = f"fused {{\n  p = {parameter} parameter(0)\n{fused}\n}}"
    result = cost(
        f"x = {parameter} parameter(0)\nf = f32[] fusion(x), calls=fused", called
    )
    return result.operand_bytes[0]


@pytest.mark.parametrize(
    "line",
    [
        "y = f32[1024] bitcast(x)",
        "y = (f32[1024]) tuple(x)",
        "y = f32[1024] constant({...})",
        "y = ((f32[1024]), f32[1024], u32[]) async-start(x), calls=add",
        "y = (f32[1024], f32[1024], u32[]) copy-start(x)",
        "y = f32[1024] all-gather-done(x)",
        'y = f32[1024] custom-call(), custom_call_target="AllocateBuffer"',
        "y = f32[1024] opt-barrier(x)",
    ],
)
def test_what_only_names_or_waits_costs_nothing(line: str) -> None:
    analysis, free = analyse(f"x = f32[1024] parameter(0)\n{line}")
    assert (free.flops, free.total_bytes, analysis.unknown) == (0, 0, {})


@pytest.mark.parametrize(
    ("opcode", "flops"),
    [("add", 32), ("divide", 32), ("compare", 32), ("power", 0), ("concatenate", 0)],
)
def test_elementwise_is_one_operation_an_element(opcode: str, flops: int) -> None:
    result = cost(f"x = f32[4,8] parameter(0)\ny = f32[4,8] {opcode}(x, x)")
    assert result.flops == flops
    assert result.operand_bytes == ({(): 128}, {(): 128})  # 32 elements of 4 bytes
    assert result.output_bytes == {(): 128}
    assert result.total_bytes == 384


def test_bytes_include_the_padding_of_tiles() -> None:
    # 4 x 8 padded to 8 x 128 elements of 4 bytes.
    result = cost("x = f32[4,8]{1,0:T(8,128)} parameter(0)\ny = f32[4,8] negate(x)")
    assert result.operand_bytes == ({(): 4096},)


def test_a_dot_multiplies_and_adds_for_each_contracted_element() -> None:
    result = cost(
        "x = f32[2,3,5] parameter(0)\ny = f32[2,5,7] parameter(1)\n"
        "z = f32[2,3,7] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={2}, "
        "rhs_batch_dims={0}, rhs_contracting_dims={1}"
    )
    assert result.flops == 2 * (2 * 3 * 7) * 5


def convolution(output: str, window: str, attributes: str = "") -> float:
    return cost(
        "x = f32[2,4,4,6] parameter(0)\nk = f32[3,3,6,8] parameter(1)\n"
        f"y = f32[2,{output},8] convolution(x, k), window={window}, "
        f"dim_labels=b01f_01io->b01f{attributes}"
    ).flops


def test_a_convolution_counts_only_taps_inside_the_input() -> None:
    # Along each axis 4 outputs of 3 taps, less one at either edge: 10.
    expected = 2 * 6 * 8 * 2 * 10 * 10
    assert convolution("4,4", "{size=3x3 pad=1_1x1_1}") == expected


def test_a_reversed_window_has_as_many_taps() -> None:
    expected = 2 * 6 * 8 * 2 * 10 * 10
    window = "{size=3x3 pad=1_1x1_1 rhs_reversal=1x1}"
    assert convolution("4,4", window) == expected


def test_negative_padding_cuts_the_input() -> None:
    # Axis 0 loses 1 element at the start: one output, 3 taps. Axis 1: 2 outputs, 6.
    expected = 2 * 6 * 8 * 2 * 3 * 6
    assert convolution("1,2", "{size=3x3 pad=-1_0x0_0}") == expected


def test_a_grouped_convolution_divides_features_or_batch() -> None:
    features = ", feature_group_count=3"
    assert convolution("2,2", "{size=3x3}", features) == 2 * 2 * 8 * 2 * 6 * 6
    batch = ", batch_group_count=2"
    assert convolution("2,2", "{size=3x3}", batch) == 2 * 6 * 8 * 1 * 6 * 6


def test_a_batch_dimension_written_as_window_counts_once_for_each_batch() -> None:
    # The form of a batched dot [3,5,7] x [3,7,11]: along axis 0 each of the 3 outputs
    # meets its own element of the input, through one of the 3 taps.
    result = cost(
        "x = f32[3,5,7] parameter(0)\nk = f32[3,7,11] parameter(1)\n"
        "y = f32[3,5,11] convolution(x, k), "
        "window={size=3 stride=2 lhs_dilate=3}, dim_labels=0bf_0io->0bf"
    )
    assert result.flops == 2 * 3 * 5 * 7 * 11


def test_a_reduction_runs_its_function_once_less_than_it_has_inputs() -> None:
    result = cost(
        "x = f32[4,8] parameter(0)\nz = f32[] constant(0)\n"
        "y = f32[4] reduce(x, z), dimensions={1}, to_apply=add"
    )
    assert result.flops == 4 * 8 - 4


def test_a_reduction_of_nothing_runs_nothing() -> None:
    """0 inputs and 16 outputs: 0 runs, not -16."""
    assert (
        cost(
            "x = f32[0,16] parameter(0)\nz = f32[] constant(0)\n"
            "y = f32[16] reduce(x, z), dimensions={0}, to_apply=add"
        ).flops
        == 0
    )


def test_a_reduction_of_pairs_writes_each_output() -> None:
    pairs = """
pairs {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  m = f32[] maximum(a, c)
  n = s32[] minimum(b, d)
  ROOT t = (f32[], s32[]) tuple(m, n)
}
"""
    result = cost(
        "x = f32[4,8] parameter(0)\ni = s32[4,8] parameter(1)\nz = f32[] constant(0)\n"
        "k = s32[] constant(0)\n"
        "y = (f32[4], s32[4]) reduce(x, i, z, k), dimensions={1}, to_apply=pairs",
        pairs,
    )
    assert result.flops == 2 * (32 - 4)  # a maximum and a minimum each time
    assert result.output_bytes == {(0,): 16, (1,): 16}


@pytest.mark.parametrize(
    ("output", "window", "flops"),
    [
        ("4,4", "{size=1x2 stride=1x2}", (2 - 1) * 16),
        # Padded so that each output reduces its whole row of 8: XLA counts as many
        # reductions as there are rows, and 7 more.
        ("4,8", "{size=1x15 pad=0_0x7_7}", 32 // 8 + 7),
        ("4,8", "{size=1x15 pad=0_0x8_6}", (15 - 1) * 32),
    ],
)
def test_a_window_reduction_runs_for_every_position_but_one(
    output: str, window: str, flops: int
) -> None:
    result = cost(
        "x = f32[4,8] parameter(0)\nz = f32[] constant(0)\n"
        f"y = f32[{output}] reduce-window(x, z), window={window}, to_apply=add"
    )
    assert result.flops == flops


def test_select_and_scatter_selects_in_each_window_and_scatters_once() -> None:
    pick = "pick {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
    pick += " ROOT c = pred[] compare(a, b), direction=GE\n}\n"
    result = cost(
        "x = f32[4,8] parameter(0)\ns = f32[2,4] parameter(1)\nz = f32[] constant(0)\n"
        "y = f32[4,8] select-and-scatter(x, s, z), window={size=2x2 stride=2x2}, "
        "select=pick, scatter=add",
        ADD + pick,
    )
    assert result.flops == 8 * (3 + 1)


@pytest.mark.parametrize(
    ("line", "flops"),
    [
        ("y = f32[4,8] map(x), dimensions={0,1}, to_apply=add", 32),
        ("y = f32[4,8] all-reduce(x), to_apply=add", 32),
        ("y = f32[4,8] all-gather(x), dimensions={0}", 0),
        ("y = f32[4,8] sort(x), dimensions={1}, to_apply=add", 32 * 5),  # log2 32
        ("y = c64[4,8] fft(x), fft_type=FFT, fft_length={8}", 2 * 4 * 3 * 32),
        ("y = f32[4,8] rng(x, x), distribution=rng_uniform", 0),
    ],
)
def test_other_opcodes_have_rules_too(line: str, flops: int) -> None:
    analysis, result = analyse(f"x = f32[4,8] parameter(0)\n{line}")
    assert (result.flops, analysis.unknown) == (flops, {})


def test_factorisations_touch_one_triangle() -> None:
    root = "x = f32[6,6] parameter(0)\nb = f32[6,2] parameter(1)\n"
    cholesky = cost(root + "y = f32[6,6] cholesky(x)")
    assert cholesky.flops == 6 * 6 * 6 // 3
    assert (cholesky.operand_bytes, cholesky.output_bytes) == (({(): 72},), {(): 72})
    solve = cost(root + "y = f32[6,2] triangular-solve(x, b)")
    assert solve.flops == 2 * 6 * 12
    assert solve.operand_bytes == ({(): 72}, {(): 48})


def test_slices_touch_only_their_part() -> None:
    x = "x = f32[8,128] parameter(0)\ni = s32[] parameter(1)\n"
    plain = cost(x + "y = f32[2,128] slice(x), slice={[0:2], [0:128]}")
    assert (plain.operand_bytes, plain.output_bytes) == (({(): 1024},), {(): 1024})
    moving = cost(x + "y = f32[1,128] dynamic-slice(x, i, i)")
    assert moving.operand_bytes == ({(): 512}, {(): 4}, {(): 4})


def test_an_update_in_place_reads_and_writes_the_update() -> None:
    result = cost(
        "x = f32[8,128] parameter(0)\nu = f32[1,128] parameter(1)\n"
        "i = s32[] parameter(2)\ny = f32[8,128] dynamic-update-slice(x, u, i, i)"
    )
    assert result.operand_bytes[:2] == ({(): 0}, {(): 512})
    assert result.output_bytes == {(): 512}


@pytest.mark.parametrize(
    ("operand", "output", "attributes", "padding"),
    [
        ("f32[999,128]{1,0}", "f32[4,128]{1,0}", "slice_sizes={1,128}", 1),
        ("f32[999,128]{1,0:T(8,128)}", "f32[4,128]{1,0}", "slice_sizes={1,128}", 8),
        ("f32[128,999]{0,1:T(8,128)}", "f32[128,4]{1,0}", "slice_sizes={128,1}", 8),
        ("f32[999,128]{1,0:T(8,128)}", "f32[512]{0}", "slice_sizes={1,1}", 1024),
        ("f32[9990]{0:T(1024)}", "f32[512]{0}", "slice_sizes={1}", 1024),
    ],
)
def test_a_gather_reads_whole_tiles(
    operand: str, output: str, attributes: str, padding: int
) -> None:
    result = cost(
        f"x = {operand} parameter(0)\ni = s32[512] parameter(1)\n"
        f"y = {output} gather(x, i), {attributes}"
    )
    # Every output has 512 elements of 4 bytes.
    assert result.operand_bytes == ({(): 2048 * padding}, {(): 2048})
    assert (result.output_bytes, result.flops) == ({(): 2048}, 0)


def test_a_custom_fusion_costs_what_its_gather_costs() -> None:
    # The indices are laid out otherwise inside: 4 elements there, 512 bytes outside.
    gather = """
fused {
  p = f32[999,128]{1,0:T(8,128)} parameter(0)
  q = s32[4]{0:T(128)} parameter(1)
  i = s32[4]{0} add(q, q)
  ROOT g = f32[4,128]{1,0} gather(p, i), slice_sizes={1,128}
}
"""
    result = cost(
        "x = f32[999,128]{1,0:T(8,128)} parameter(0)\n"
        "i = s32[4]{0:T(128)} parameter(1)\n"
        "y = f32[4,128]{1,0} fusion(x, i), kind=kCustom, calls=fused",
        gather,
    )
    assert result.operand_bytes == ({(): 8 * 2048}, {(): 16})
    assert (result.output_bytes, result.flops) == ({(): 2048}, 0)


def test_a_scatter_touches_the_tiles_of_its_updates() -> None:
    result = cost(
        "x = f32[999,128]{1,0:T(8,128)} parameter(0)\ni = s32[4] parameter(1)\n"
        "u = f32[4,128] parameter(2)\n"
        "y = f32[999,128]{1,0:T(8,128)} scatter(x, i, u), update_window_dims={1}, "
        "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
        "index_vector_dim=1, to_apply=add"
    )
    assert result.operand_bytes == ({(): 8 * 2048}, {(): 16}, {(): 2048})
    assert result.output_bytes == {(): 8 * 2048}
    assert result.flops == 4 * 128  # an addition for each updated element


def test_a_fusion_computes_what_is_in_it() -> None:
    fused = "fused {\n p = f32[4,8] parameter(0)\n n = f32[4,8] negate(p)\n"
    fused += " z = f32[] constant(0)\n"
    fused += " ROOT r = f32[4] reduce(n, z), dimensions={1}, to_apply=add\n}\n"
    result = cost(
        "x = f32[4,8] parameter(0)\ny = f32[4] fusion(x), kind=kLoop, calls=fused",
        ADD + fused,
    )
    assert result.flops == 32 + (32 - 4)
    assert (result.operand_bytes, result.output_bytes) == (({(): 128},), {(): 16})


def test_a_fusion_reads_once_for_all_ordinary_users() -> None:
    # 8 x 128 elements of 4 bytes; a bitcast is a user like others.
    fused = (
        "b = f32[1024] bitcast(p)\nn = f32[8,128] negate(p)\nr = f32[8,128] add(n, p)"
    )
    assert fusion_reads(fused) == {(): 4096}


def test_a_fusion_reads_again_for_broadcasts_reshapes_and_slices() -> None:
    fused = """
  n = f32[8,128] negate(p)
  w = f32[2,8,128] broadcast(p), dimensions={1,2}
  h = f32[1024] reshape(p)
  s = f32[2,128] slice(p), slice={[0:2], [0:128]}
  d = f32[1,128] dynamic-slice(p, i, i)
  ROOT r = f32[] constant(0)"""
    reads = fusion_reads("i = s32[] constant(0)" + fused)
    assert reads == {(): 3 * 4096 + 1024 + 512}


def test_a_fusion_that_only_updates_in_place_reads_nothing_of_it() -> None:
    called = """
fused {
  p = f32[8,128] parameter(0)
  u = f32[1,128] parameter(1)
  i = s32[] parameter(2)
  d = f32[8,128] dynamic-update-slice(p, u, i, i)
  n = f32[1,128] negate(u)
  ROOT r = (f32[8,128], f32[1,128]) tuple(d, n)
}
"""
    result = cost(
        "x = f32[8,128] parameter(0)\nu = f32[1,128] parameter(1)\n"
        "i = s32[] parameter(2)\n"
        "y = (f32[8,128], f32[1,128]) fusion(x, u, i), calls=fused",
        called,
    )
    assert result.operand_bytes == ({(): 0}, {(): 512}, {(): 4})
    assert result.output_bytes == {(0,): 512, (1,): 512}


def test_a_fusion_reads_the_elements_of_a_tuple_apart() -> None:
    fused = "g = f32[8,128] get-tuple-element(p), index=1\nr = f32[8,128] negate(g)"
    assert fusion_reads(fused, "(f32[4], f32[8,128])") == {(0,): 0, (1,): 4096}


@pytest.mark.parametrize(
    ("user", "read"),
    [
        ("negate(f)", 4096),
        ("slice(f), slice={[0:2], [0:128]}", 1024),
        # A fusion that nobody uses within the fusion reads nothing, for XLA.
        (None, 0),
    ],
)
def test_a_fusion_within_a_fusion_reads_for_its_users(
    user: str | None, read: int
) -> None:
    shape = "f32[2,128]" if user and user.startswith("slice") else "f32[8,128]"
    last = f"ROOT r = {shape} {user}\n" if user else ""
    called = (
        "inner {\n q = f32[8,128] parameter(0)\n ROOT n = f32[8,128] negate(q)\n}\n"
        "fused {\n p = f32[8,128] parameter(0)\n"
        f" f = f32[8,128] fusion(p), kind=kLoop, calls=inner\n {last}}}\n"
    )
    result = cost(
        f"x = f32[8,128] parameter(0)\ny = {shape} fusion(x), calls=fused", called
    )
    assert result.operand_bytes == ({(): read},)


def test_unknown_instructions_cost_their_bytes_and_are_collected() -> None:
    analysis, result = analyse("x = f32[4] parameter(0)\ny = f32[4] twirl(x)")
    assert (result.flops, result.total_bytes) == (0, 32)
    assert analysis.unknown == {"twirl": "y"}
    analysis, result = analyse(
        'x = f32[4] parameter(0)\ny = f32[4] custom-call(x), custom_call_target="Mine"'
    )
    assert (result.total_bytes, analysis.unknown) == (32, {"Mine": "y"})


@pytest.mark.parametrize(
    "line",
    [
        "y = f32[4] convolution(x, x), window={size=1}",
        "y = f32[4] convolution(x, x), window={size=1x1 pad=0_0}, dim_labels=b_i->b",
        "y = f32[4] dot(x, x), lhs_contracting_dims={3}, rhs_contracting_dims={0}",
        "y = f32[4] sort(), dimensions={0}, to_apply=add",
        "y = f32[4] gather(x, x), slice_sizes={}",
        "y = f32[4] slice()",
    ],
)
def test_attributes_that_do_not_fit_are_reported_with_their_line(line: str) -> None:
    with pytest.raises(HloSyntaxError, match="y: the operands and attributes") as error:
        cost(f"x = f32[4]{{0:T(128)}} parameter(0)\n{line}")
    assert error.value.line == 11
