"""ONNX models as programs, on cases worked out by hand."""

from __future__ import annotations

import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Command
from hostile_models import NAMES, require_answers
from onnx_cases import helper, model, node, onnx, tensor_info, weight

from hybridalloc import get_target, solve
from hybridalloc.errors import InputError
from hybridalloc.io.onnx_model import from_onnx
from hybridalloc.io.onnx_model.values import BITS
from hybridalloc.io.read import read_problem
from hybridalloc.program import Instruction, Program

RATE = get_target("tpu-v4i").flops_per_second


def read(proto: Any) -> Program:
    return from_onnx(proto).program


def touched(program: Program, instruction: Instruction) -> list[tuple[str, int, int]]:
    return [
        (program.buffers[x.buffer].name, x.read_bytes, x.write_bytes)
        for x in instruction.accesses
    ]


def layer() -> Any:
    """Y = relu(x w + b), of 8 rows."""
    return model(
        [
            node("MatMul", "x w", "xw", name="multiply"),
            node("Add", "xw b", "sum"),
            node("Relu", "sum", "y"),
        ],
        {"x": [8, 16]},
        {"y": [8, 4]},
        [weight("w", np.ones((16, 4), "f")), weight("b", np.ones(4, "f"))],
    )


def test_initializers_are_weights_and_inputs_are_not() -> None:
    program = read(layer())
    inputs = [(x.name, x.size, x.cross_program) for x in program.buffers if x.is_input]
    assert inputs == [("w", 256, True), ("b", 16, True), ("x", 512, False)]
    assert [x.name for x in program.buffers if x.is_output] == ["y"]
    assert [(x.name, x.kind) for x in program.instructions] == [
        ("multiply", "MatMul"),
        ("sum", "Add"),
        ("y", "Relu"),
    ]
    assert touched(program, program.instructions[0]) == [
        ("x", 512, 0),
        ("w", 256, 0),
        ("xw", 0, 128),
    ]


def test_a_view_shares_the_storage_of_its_operand() -> None:
    program = read(
        model(
            [
                node("Relu", "x", "a"),
                node("Reshape", "a shape", "b"),
                node("Unsqueeze", "b axes", "c"),
                node("Identity", "c", "d"),
                node("Neg", "d", "y"),
            ],
            {"x": [4, 6]},
            {"y": [1, 3, 8]},
            [weight("shape", np.array([3, 8])), weight("axes", np.array([0]))],
        )
    )
    assert [x.kind for x in program.instructions] == ["Relu", "Neg"]
    assert touched(program, program.instructions[1]) == [("a", 96, 0), ("y", 0, 96)]


def test_what_is_looked_up_is_read_in_part() -> None:
    program = read(
        model(
            [node("Gather", "table ids", "rows"), node("Slice", "rows a b", "y")],
            {},
            {"y": [1, 4]},
            [
                weight("table", np.ones((100, 4), "f")),
                weight("ids", np.array([1, 5])),
                weight("a", np.array([0])),
                weight("b", np.array([1])),
            ],
        )
    )
    gather, cut = program.instructions
    assert touched(program, gather)[0] == ("table", 32, 0)
    assert touched(program, cut)[0] == ("rows", 16, 0)


def test_constants_are_inputs_that_never_change() -> None:
    value = weight("", np.ones(4, "f"))
    nodes = [node("Constant", "", "one", value=value), node("Add", "x one", "y")]
    program = read(model(nodes, {"x": [4]}, {"y": [4]}))
    one = program.buffers[program.buffer_index["one"]]
    assert (one.size, one.is_input, one.cross_program) == (16, True, True)
    assert len(program) == 1


@pytest.mark.parametrize(
    ("proto", "flops"),
    [
        (layer(), 2 * 8 * 16 * 4),
        (
            model(
                [node("Gemm", "a b", "y", transA=1)],
                {"a": [16, 8], "b": [16, 4]},
                {"y": [8, 4]},
            ),
            2 * 8 * 16 * 4,
        ),
        (
            model(
                [node("Conv", "x w", "y", group=2, kernel_shape=[3, 3])],
                {"x": [2, 4, 6, 6], "w": [6, 2, 3, 3]},
                {"y": [2, 6, 4, 4]},
            ),
            2 * (2 * 6 * 4 * 4) * (2 * 3 * 3),
        ),
        (
            model(
                [node("ConvTranspose", "x w", "y", kernel_shape=[3, 3])],
                {"x": [2, 4, 6, 6], "w": [4, 5, 3, 3]},
                {"y": [2, 5, 8, 8]},
            ),
            2 * (2 * 4 * 6 * 6) * (5 * 3 * 3),
        ),
        (
            model(
                [node("Einsum", "a b", "y", equation="bik,bkj->bij")],
                {"a": [3, 4, 5], "b": [3, 5, 6]},
                {"y": [3, 4, 6]},
            ),
            2 * 3 * 4 * 5 * 6,
        ),
        (
            model(
                [node("Einsum", "a b", "y", equation="...ij,...jk->...ik")],
                {"a": [7, 1, 4, 5], "b": [1, 3, 5, 6]},
                {"y": [7, 3, 4, 6]},
            ),
            2 * 7 * 3 * 4 * 5 * 6,
        ),
        (
            model(
                [node("LSTM", "x w r", "y", hidden_size=8)],
                {"x": [5, 2, 4], "w": [1, 32, 4], "r": [1, 32, 8]},
                {"y": [5, 1, 2, 8]},
            ),
            2 * 5 * 2 * (32 * 4 + 32 * 8),
        ),
    ],
    ids=[
        "MatMul",
        "Gemm",
        "Conv",
        "ConvTranspose",
        "Einsum",
        "Einsum with ...",
        "LSTM",
    ],
)
def test_what_matrix_units_do_is_counted(proto: Any, flops: int) -> None:
    seconds = sum(x.compute_s for x in read(proto).instructions)
    assert seconds * RATE == pytest.approx(flops)


@pytest.mark.parametrize(
    ("element", "size"),
    [
        *(("BFLOAT16", 6), ("FLOAT16", 6), ("INT4", 2), ("UINT16", 6), ("DOUBLE", 24)),
        *(("BOOL", 3), ("FLOAT8E5M2", 3), ("FLOAT", 12), ("INT64", 24)),
    ],
)
def test_elements_have_their_sizes(element: str, size: int) -> None:
    kind = getattr(onnx.TensorProto, element)
    graph = helper.make_graph(
        [node("Identity", "x", "z"), node("Cast", "z", "y", to=1)],
        "graph",
        [tensor_info("x", [3], kind)],
        [tensor_info("y", [3])],
    )
    opset = helper.make_opsetid("", 21)
    proto = helper.make_model(graph, opset_imports=[opset], ir_version=10)
    assert read(proto).buffers[0].size == size


def test_every_type_of_numbers_that_onnx_has_a_size_for_has_that_size() -> None:
    types = set(onnx.TensorProto.DataType.keys()) - {"UNDEFINED", "STRING"}
    assert types <= BITS.keys()
    for kind in types:
        number = onnx.TensorProto.DataType.Value(kind)
        itemsize = helper.tensor_dtype_to_np_dtype(number).itemsize
        narrow = kind == "BFLOAT16" or kind.startswith(("FLOAT4", "FLOAT6", "FLOAT8"))
        if BITS[kind] >= 8 and not narrow:  # older versions say 4 bytes of these
            assert BITS[kind] == 8 * itemsize


def test_functions_of_the_model_are_inlined() -> None:
    body = [node("Mul", "a a", "b"), node("Neg", "b", "c")]
    opset = helper.make_opsetid("", 20)
    function = helper.make_function("custom", "Square", ["a"], ["c"], body, [opset])
    proto = model([node("Square", "x", "y", domain="custom")], {"x": [4]}, {"y": [4]})
    proto.functions.append(function)
    assert [x.kind for x in read(proto).instructions] == ["Mul", "Neg"]


def calling(*bodies: str) -> Any:
    """A model that calls the first of its functions, which call others by number."""
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("custom", 1)]
    proto = model([node("F0", "x", "y", domain="custom")], {"x": [4]}, {"y": [4]})
    for number, body in enumerate(bodies):
        values = ["a", *(f"v{i}" for i in range(1, len(body.split()))), "b"]
        nodes = [
            node(kind, *ends, domain="custom" if kind.startswith("F") else "")
            for kind, *ends in zip(body.split(), values, values[1:], strict=False)
        ]
        proto.functions.append(
            helper.make_function("custom", f"F{number}", ["a"], ["b"], nodes, opsets)
        )
    return proto


def test_functions_that_call_functions_are_inlined() -> None:
    kinds = [x.kind for x in read(calling("F1 Neg F1", "Exp Abs")).instructions]
    assert kinds == ["Exp", "Abs", "Neg", "Exp", "Abs"]


@pytest.mark.parametrize(
    ("proto", "words"),
    [
        (
            calling(*(f"F{i} F{i}" for i in range(1, 41)), "Neg"),
            "expected at most 1,000,000 nodes once functions are inlined",
        ),
        (
            calling(*(f"F{i}" for i in range(1, 200)), "Neg"),
            "expected at most 100 levels of functions once functions are inlined",
        ),
        (calling("F1", "Neg F0"), "expected functions that do not call themselves, F"),
        (calling("F0"), "expected functions that do not call themselves, F0 does"),
    ],
    ids=["doubling", "deep", "cycle", "itself"],
)
def test_functions_without_end_are_refused_before_they_are_inlined(
    proto: Any, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        read(proto)


def test_weights_in_other_files_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "layer.onnx"
    onnx.save(
        layer(),
        str(path),
        save_as_external_data=True,
        location="weights.bin",
        size_threshold=0,
    )
    (tmp_path / "weights.bin").unlink()
    problem = read_problem(path)
    assert problem.program.name == "layer"
    assert problem.program.instructions == read(layer()).instructions


def test_names_are_kept_whatever_they_are() -> None:
    names = ("<b>&amp;", "重み", "w" * 300, "two\nlines")
    before = ("x", *names[:-1])
    nodes = [
        helper.make_node("Neg", [a], [b]) for a, b in zip(before, names, strict=True)
    ]
    problem = from_onnx(model(nodes, {"x": [4]}, {names[-1]: [4]}))
    assert {x.name for x in problem.program.buffers} == {"x", *names}
    assert solve(problem, "greedy", time_limit=5).map is not None


def test_a_model_file_is_solved(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "layer.onnx"
    onnx.save(layer(), str(path))
    limits = ("--strategy", "greedy", "--time-limit", "5", "--bound-time", "0")
    ran = command("solve", path, *limits)
    assert (ran.code, ran.err) == (0, "")


def test_every_command_takes_a_model_of_hostile_names(
    command: Command, tmp_path: Path
) -> None:
    nodes, weights = [], []
    for before, name in pairwise(("x", *NAMES)):
        ends = [before, f"{name} w"], [name]
        nodes.append(helper.make_node("MatMul", *ends, name=f"{name} node"))
        weights.append(weight(f"{name} w", np.ones((4, 4), "f")))
    proto = model(nodes, {"x": [4, 4]}, {NAMES[-1]: [4, 4]}, weights)
    onnx.save(proto, str(tmp_path / "model.onnx"))
    require_answers(command, tmp_path / "model.onnx")


def choice() -> Any:
    """A model with a conditional."""
    result = tensor_info("z", [4])
    branch = helper.make_graph([node("Neg", "x", "z")], "branch", [], [result])
    proto = model([], {"x": [4]}, {"y": [4]})
    proto.graph.input.append(tensor_info("c", [], onnx.TensorProto.BOOL))
    attributes = {"then_branch": branch, "else_branch": branch}
    proto.graph.node.append(node("If", "c", "y", **attributes))
    return proto


@pytest.mark.parametrize(
    ("proto", "words"),
    [
        (
            model([node("Neg", "x", "y")], {"x": ["batch", 4]}, {"y": ["batch", 4]}),
            "value x: dimension 0 is 'batch', not a number (expected static shapes",
        ),
        (
            model([node("Odd", "x", "y", domain="custom")], {"x": [4]}, {"y": None}),
            "node y (Odd): value y: its shape is not known",
        ),
        (
            model([node("Odd", "x", "z", domain="custom")], {"x": [4]}, {"x": [4]}),
            "node z (Odd): value z: its shape is not known",
        ),
        (choice(), "node y (If): expected a model without subgraphs"),
        (
            model([node("Add", "a b", "y")], {"a": [2, 3], "b": [4, 5]}, {"y": None}),
            "expected a correct ONNX model: ",
        ),
        (
            model([node("Neg", "x", "y")], {"x": [4]}, {"z": [4]}),
            "value z: no earlier node gives it",
        ),
        (
            model([node("Identity", "x", "y")], {"x": [4]}, {"y": [4]}),
            "expected at least one operator that touches memory",
        ),
    ],
    ids=["dynamic", "custom", "unused", "if", "shapes", "undefined", "views"],
)
def test_a_model_without_a_static_program_is_refused_in_one_line(
    command: Command, tmp_path: Path, proto: Any, words: str
) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(proto, str(path))
    ran = command("solve", path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert f"{path}: {words}" in ran.err


def after_custom(*nodes: Any) -> Any:
    """A model that ONNX's inference does not check: an operator is not known to it."""
    return model(
        [node("Odd", "x", "a", domain="custom"), *nodes, node("Neg", "a", "y")],
        {"x": [4, 4]},
        {"y": [4, 4]},
        value_info=[tensor_info(name, [4, 4]) for name in "abc"],
    )


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (helper.make_node("Identity", [""], ["b"]), "expected a first operand"),
        (helper.make_node("Identity", ["a"], [""]), "expected a first operand"),
        (helper.make_node("Reshape", [], ["b"]), "expected a first operand"),
        (helper.make_node("Constant", [], [""], value_int=1), "expected a first"),
        (helper.make_node("Constant", [], []), "expected a first operand"),
        (node("Einsum", "a a", "b", equation=1), "operands and attributes of Einsum"),
        (node("Einsum", "a a", "b", equation=b"\xff"), "operands and attributes of"),
        (node("Einsum", "a a", "b", equation="ij,j->i"), "operands and attributes of"),
        (node("Einsum", "a a", "b", equation="ij"), "operands and attributes of"),
        (node("Einsum", "a a", "b"), "operands and attributes of Einsum"),
        (helper.make_node("MatMul", ["", "a"], ["b"]), "operands and attributes of"),
        (helper.make_node("MatMul", ["a", "a"], [""]), "operands and attributes of"),
        (node("Conv", "a", "b"), "operands and attributes of Conv"),
    ],
    ids=lambda x: None if isinstance(x, str) else x.op_type,
)
def test_a_node_that_does_not_fit_its_operator_is_refused(odd: Any, words: str) -> None:
    proto = after_custom(odd)
    try:
        read(proto)
    except ValueError as error:
        said = str(error)
    else:
        said = ""
    # ONNX checks some of them too, in its own words.
    assert words in said or said.startswith("expected a correct ONNX model: ")
    assert "\n" not in said


@pytest.mark.parametrize(
    "equation", ["ij1,jk", "i.j,jk", "ij..,jk", "ij,jk->i>", "é,j"]
)
def test_an_equation_that_onnx_would_read_for_ever_is_refused(equation: str) -> None:
    shapes = {"a": [4, 4], "b": [4, 4]}
    proto = model([node("Einsum", "a b", "y", equation=equation)], shapes, {"y": None})
    with pytest.raises(ValueError, match="Einsum has the equation"):
        read(proto)


def test_a_value_of_text_is_refused() -> None:
    nodes = [node("Identity", "s", "t"), node("Neg", "x", "y")]
    proto = model(nodes, {"x": [4]}, {"y": [4]})
    proto.graph.input.append(tensor_info("s", [2], onnx.TensorProto.STRING))
    with pytest.raises(ValueError, match=r"value s: expected numbers, .* type STRING"):
        read(proto)


def test_what_is_no_model_is_refused_in_one_line(
    command: Command, tmp_path: Path
) -> None:
    data = layer().SerializeToString()
    for content in (data[: len(data) // 2], b"", b"To be, or not to be.", b"\0" * 64):
        path = tmp_path / "wrong.onnx"
        path.write_bytes(content)
        ran = command("info", path)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert f"{path}: expected a" in ran.err


def test_a_missing_package_is_named(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "layer.onnx"
    onnx.save(layer(), str(path))
    monkeypatch.setitem(sys.modules, "onnx", None)
    ran = command("info", path)
    assert (ran.code, ran.out) == (2, "")
    assert 'needs the package onnx: pip install "onnx>=' in ran.err


@pytest.mark.parametrize(
    "proto",
    [
        layer(),
        after_custom(
            node("Einsum", "a a", "b", equation="ij,jk->ik"),
            node("Identity", "b", "c"),
            node("Constant", "", "one", value=weight("", np.ones(4, "f"))),
        ),
    ],
    ids=["own", "custom"],
)
def test_a_mutated_model_is_read_or_refused(proto: Any, tmp_path: Path) -> None:
    data, path = proto.SerializeToString(), tmp_path / "mutant.onnx"
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(100):
        changed = bytearray(data)
        for _ in range(rng.integers(1, 4)):
            changed[rng.integers(len(changed))] = rng.integers(256)
        path.write_bytes(changed)
        try:
            read_problem(path)
        except InputError:
            refused += 1
    assert 0 < refused < 100


@pytest.mark.parametrize("seed", range(4))
def test_a_model_of_mutated_nodes_is_read_or_refused(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = ("Identity", "Constant", "Einsum", "MatMul", "Conv", "LSTM", "Attention")
    for _ in range(50):
        ends = [rng.choice(["", *"abcx"], rng.integers(4)).tolist() for _ in range(2)]
        proto = after_custom(helper.make_node(str(rng.choice(kinds)), *ends))
        with suppress(ValueError):
            read(proto)
