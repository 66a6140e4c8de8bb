"""Which parameters XLA would fetch across programs: weights, not activations."""

import pytest

from hybridalloc.io.hlo.activation import Activations
from hybridalloc.io.hlo.parser import parse_module

DIMS = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
HEAD = "HloModule m, is_scheduled=true\n\n"


def _is_activation(entry: str, fused: str = "") -> bool:
    text = (
        f"{HEAD}{fused}\nENTRY main {{\n  p = f32[8,8]{{1,0}} parameter(0)\n{entry}}}\n"
    )
    module = parse_module(text)
    return Activations(module).is_activation(module.entry.parameters[0])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"dot(x, p), {DIMS}", False),
        (f"dot(p, x), {DIMS}", True),
        (f"dot(p, p), {DIMS}", True),
        ("add(p, x)", True),
        ("copy(p)", True),
    ],
)
def test_the_second_operand_of_a_product_is_a_weight_and_all_else_is_not(
    line: str, expected: bool
) -> None:
    entry = f"  x = f32[8,8]{{1,0}} parameter(1)\n  ROOT r = f32[8,8]{{1,0}} {line}\n"
    assert _is_activation(entry) is expected


def test_bitcasts_and_transposes_are_looked_through() -> None:
    for second, expected in (("dot(x, t)", False), ("dot(t, x)", True)):
        entry = f"""
  x = f32[8,8]{{1,0}} parameter(1)
  b = f32[8,8]{{1,0}} bitcast(p)
  t = f32[8,8]{{0,1}} transpose(b), dimensions={{1,0}}
  ROOT r = f32[8,8]{{1,0}} {second}, {DIMS}
"""
        assert _is_activation(entry) is expected


def test_a_fusion_is_looked_into() -> None:
    for inside, expected in (("dot(b, a)", False), ("dot(a, b)", True)):
        fused = f"""
f {{
  a = f32[8,8]{{1,0}} parameter(0)
  b = f32[8,8]{{1,0}} parameter(1)
  ROOT d = f32[8,8]{{1,0}} {inside}, {DIMS}
}}
"""
        entry = """
  x = f32[8,8]{1,0} parameter(1)
  ROOT r = f32[8,8]{1,0} fusion(p, x), kind=kOutput, calls=f
"""
        assert _is_activation(entry, fused) is expected


def test_a_value_that_is_nowhere_used_is_a_weight() -> None:
    assert not _is_activation("  ROOT r = f32[] constant(0)\n")
