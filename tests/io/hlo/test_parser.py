"""The text of a module: what real dumps write, and what is wrong with others."""

from __future__ import annotations

from pathlib import Path

import pytest
from hlo_texts import ADD, hlo_text, parsed

from hybridalloc.io.hlo.parser import HloSyntaxError, parse_module


def test_a_dump_with_everything_that_compilers_add_is_understood() -> None:
    dump = Path(__file__).with_name("gpu_dump.txt")
    module = parse_module(dump.read_text(encoding="utf-8"))
    assert module.name == "jit_f"
    assert module.entry.name == "main.4_spmd"
    names = [(i.name, i.opcode) for i in module.entry.instructions]
    assert names == [
        ("Arg_0.1", "parameter"),
        ("all-reduce-start", "all-reduce-start"),
        ("all-reduce-done", "all-reduce-done"),
        ("loop_fusion", "fusion"),
    ]
    assert module.entry.root.called("calls") == ["fused_computation"]
    assert module.entry.root.attributes["kind"] == "kLoop"
    assert [operand.name for operand in module.entry.root.operands] == [
        "all-reduce-done"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "  %y = f32[8]{0} add(f32[8]{0} %x, f32[8]{0} %x)",
        "y = f32[8] add(x, x)",
        "ROOT y = f32[8] add(x, /*index=1*/x)",
        "y = f32[8] add(x,\n    x)",
        'y = f32[8] add(\n  x, x),\n  metadata={op_name="a"}',
    ],
)
def test_operands_may_be_written_in_any_of_the_usual_ways(line: str) -> None:
    module = parsed(f"x = f32[8] parameter(0)\n{line}")
    x, y = module.entry.instructions
    assert y.name == "y"
    assert y.operands == (x, x)
    assert module.entry.users[x] == [y]


@pytest.mark.parametrize(
    ("shape", "literal"),
    [
        ("f32[]", "1.5e-3"),
        ("c64[]", "(7.4, 0)"),
        ("s32[2,2]{1,0}", "{ { 1, 2 }, { 3, 4 } }"),
        ("s32[2,2]", "s32[2,2] { { 1, 2 }, { 3, 4 } }"),
        ("(s32[], f32[])", "(1, -inf)"),
        ("u8[4]", r'"\001{(\""'),
        ("f32[9]", "{...}"),
    ],
)
def test_a_constant_keeps_its_text_and_names_nothing(shape: str, literal: str) -> None:
    module = parsed(f"c = {shape} constant({literal})")
    assert module.entry.root.literal == literal
    assert module.entry.root.operands == ()


def test_the_root_is_the_last_instruction_unless_one_is_marked() -> None:
    body = "x = f32[8] parameter(0)\n{}y = f32[8] negate(x)\nz = f32[8] negate(x)"
    assert parsed(body.format("")).entry.root.name == "z"
    assert parsed(body.format("ROOT ")).entry.root.name == "y"


def test_parameters_are_sorted_by_their_numbers() -> None:
    module = parsed("b = f32[] parameter(1)\na = f32[] parameter(0)")
    assert [p.name for p in module.entry.parameters] == ["a", "b"]


def test_donated_parameters_stand_in_the_first_line() -> None:
    module = parsed(
        "a = (f32[8], f32[8]) parameter(0)\nb = f32[8] parameter(1)\n"
        "g = f32[8] get-tuple-element(a), index=1\n"
        "r = (f32[8], f32[8]) tuple(b, g)",
        header="input_output_alias={ {0}: (1, {}, may-alias), {1}: (0, {1}) }",
    )
    assert list(module.input_output_aliases) == [((0,), 1, ()), ((1,), 0, (1,))]


def test_attributes_of_calls_are_lists_of_names() -> None:
    branches = "a {\n  p = f32[] parameter(0)\n}\nb {\n  p = f32[] parameter(0)\n}"
    module = parsed(
        "p = pred[] parameter(0)\nx = f32[] parameter(1)\n"
        "r = f32[] conditional(p, x, x), branch_computations={%a, %b}",
        branches,
    )
    assert module.entry.root.called("branch_computations") == ["a", "b"]


@pytest.mark.parametrize(
    ("config", "count"),
    [
        ('backend_config={"known_trip_count":{"n":"7"},"known_init_step":{}}', 7),
        (r'backend_config="{\"known_trip_count\":{\"n\":\"7\"}}"', 7),
        ('backend_config={"n":"7"}', None),
        ('metadata={op_name="known_trip_count"}', None),
    ],
)
def test_a_noted_trip_count_is_found_in_both_notations(
    config: str, count: int | None
) -> None:
    module = parsed(f"x = f32[8] parameter(0)\ny = f32[8] negate(x), {config}")
    assert module.entry.root.known_trip_count == count


def test_declared_aliases_name_output_operand_and_index() -> None:
    module = parsed(
        "x = f32[8] parameter(0)\ny = (f32[8], f32[8]) custom-call(x, x), "
        'custom_call_target="f", '
        "output_to_operand_aliasing={{0}: (1, {}), {1}: (0, {})}"
    )
    aliases = list(module.entry.root.operand_aliases)
    assert aliases == [((0,), 1, ()), ((1,), 0, ())]


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("", 1, "expected a line that starts with 'HloModule'"),
        ("module @jit_f {\n}", 1, "expected a line that starts with 'HloModule'"),
        ("// note\nHloModule m\n", 2, "the module is not scheduled"),
        ("HloModule m, is_scheduled=true\n", 1, "expected an ENTRY computation"),
        ("HloModule m, is_scheduled=true\nm {\n", 2, "ends within computation m"),
        ("HloModule m, is_scheduled=true\n}\n", 2, "brace without a computation"),
        ("HloModule m, is_scheduled=true\nm {\n}\n", 3, "computation m is empty"),
        ("HloModule m, is_scheduled=true\n%$ {\n", 2, "the start of a computation"),
        (hlo_text("x = f32[] parameter(0)") * 2, 8, "the start of a computation"),
    ],
)
def test_a_text_that_is_no_scheduled_module_is_an_error_with_its_line(
    text: str, line: int, expected: str
) -> None:
    with pytest.raises(HloSyntaxError) as caught:
        parse_module(text)
    assert expected in str(caught.value)
    assert caught.value.line == line


PAIR = """
pair {
  p = (f32[8], f32[8]) parameter(0)
  ROOT left = f32[8] get-tuple-element(p), index=0
}
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y", "expected 'name = shape opcode(...)', got 'y'"),
        ("y = f32[8]", "expected an opcode after"),
        ("y = add(x, x)", "expected an opcode after"),
        ("y = f32[8] add(x, x", "unclosed bracket"),
        ("y = (f32[8] add(x, x", "unclosed bracket"),
        ("y = f33[8] add(x, x)", "unknown element type 'f33'"),
        (f"y = {'(' * 999}f32[8]{')' * 999} tuple(x)", "recursion"),
        ("y = f32[8] add(x, z)", "operand 'z' is not defined before its use in"),
        ("y = f32[8] add(x, y)", "operand 'y' is not defined before its use in"),
        ("y = f32[8] add(x, 5..)", "operand '5..' is not defined"),
        ("x = f32[8] negate(x)", "x is defined twice"),
        ("y = f32[8] parameter(x)", "expected a parameter number, got 'x'"),
        ("y = f32[8] parameter(2)", "expected parameter 1 of main next, got"),
        ("y = f32[8] parameter(0)", "expected parameter 1 of main next, got"),
        ("ROOT y = f32[8] negate(x)\nROOT z = f32[8] negate(x)", "y is the ROOT"),
        ("y = f32[8] fusion(x), kind=kLoop", "y: expected the attribute calls"),
        ("y = f32[8] fusion(x), calls=%no", "y calls 'no', which is not defined"),
        ("y = f32[8] fusion(), calls=pair", "its operands do not fit what pair takes"),
        ("y = f32[8] fusion(x), calls=pair", "its operands do not fit what pair takes"),
        ("y = f32[8] while(x), body=pair", "expected the attribute condition"),
        ("y = f32[8] copy()", "y: expected 1 or more operands, got 0"),
        ("y = s32[] add(x)", "y: expected 2 or more operands, got 1"),
        ("y = f32[8] get-tuple-element(x), index=0", "the index of an element of x"),
        ("y = f32[8] get-tuple-element(x)", "the index of an element of x, got None"),
        ("y = (f32[8]) tuple(x, x)", "its shape is not that of what it passes on"),
        ("y = token[] bitcast(x)", "its shape is not that of what it passes on"),
        (
            "t = (f32[8], f32[8]) tuple(x, x)\ny = (f32[8]) call(t), to_apply=pair",
            "y: its shape is not what pair returns",
        ),
        (
            "t = (f32[8], f32[8]) tuple(x, x)\n"
            "y = f32[8] conditional(x, t), branch_computations={pair, pair}",
            "y: 1 arguments for 2 branches",
        ),
    ],
)
def test_a_wrong_instruction_is_an_error_with_its_line(
    line: str, expected: str
) -> None:
    text = hlo_text(f"x = f32[8] parameter(0)\n{line}", PAIR)
    with pytest.raises(HloSyntaxError) as caught:
        parse_module(text)
    assert expected in str(caught.value)
    # Line 1 is the module's, 3 to 6 are PAIR, 8 is ENTRY, 9 is x.
    assert caught.value.line == 10 + line.count("\n")


def test_computations_that_call_each_other_in_a_circle_are_an_error() -> None:
    circle = "\n".join(
        f"{name} {{\n  p = f32[8] parameter(0)\n"
        f"  ROOT r = f32[8] fusion(p), calls={other}\n}}"
        for name, other in [("left", "right"), ("right", "left")]
    )
    with pytest.raises(HloSyntaxError, match="computation left calls itself") as caught:
        parsed("x = f32[8] parameter(0)", circle)
    assert caught.value.line == 9  # where right calls left


def test_two_entries_or_two_computations_of_one_name_are_an_error() -> None:
    with pytest.raises(HloSyntaxError, match="computation add is defined twice"):
        parsed("x = f32[8] parameter(0)", ADD + ADD)
    with pytest.raises(HloSyntaxError, match="add is the ENTRY already"):
        parsed("x = f32[8] parameter(0)", "ENTRY " + ADD.strip())


def test_a_donation_of_what_does_not_exist_is_an_error() -> None:
    for alias in ("{}: (1, {})", "{0}: (0, {})", "{}: (0, {1})"):
        with pytest.raises(HloSyntaxError, match="does not exist") as caught:
            parsed("x = f32[8] parameter(0)", "", f"input_output_alias={{ {alias} }}")
        assert caught.value.line == 1
