"""What kind of work an instruction is said to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hlo_texts import ADD, read

from hybridalloc.io.hlo.reader import TRANSPARENT
from hybridalloc.io.read import read_problem


def kind_of(line: str, called: str = "") -> str:
    """The kind of the last of a module's instructions, which takes one operand."""
    hlo = read(f"x = f32[256] parameter(0)\n{line}", called)
    return hlo.program.instructions[-1].kind


def fused(*lines: str, name: str = "fused") -> str:
    body = "\n".join(["p = f32[256] parameter(0)", *lines])
    return f"{name} {{\n{body}\n}}\n"


def test_the_kind_is_the_opcode() -> None:
    assert kind_of("y = f32[256] negate(x)") == "negate"
    assert [i.kind for i in read("x = f32[256] parameter(0)").program.instructions] == [
        "parameter"
    ]


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (("ROOT n = f32[256] negate(p)",), "loop-fusion"),
        (
            ("n = f32[256] copy(p)", "ROOT s = f32[128] slice(n), slice={[0:128]}"),
            "loop-fusion/copy",
        ),
        (
            (
                "c = f32[256] copy(p)",
                "z = f32[] constant(0)",
                "ROOT r = f32[] reduce(c, z), dimensions={0}, to_apply=add",
            ),
            "loop-fusion/reduce",
        ),
    ],
)
def test_a_fusion_is_told_by_its_kind_and_its_heaviest_opcode(
    lines: tuple[str, ...], kind: str
) -> None:
    line = "y = f32[256] fusion(x), kind=kLoop, calls=fused"
    assert kind_of(line, ADD + fused(*lines)) == kind


def test_a_fusion_within_a_fusion_counts() -> None:
    inner = fused("ROOT c = f32[256] copy(p)", name="inner")
    outer = fused("ROOT f = f32[256] fusion(p), kind=kLoop, calls=inner")
    line = "y = f32[256] fusion(x), kind=kOutput, calls=fused"
    assert kind_of(line, inner + "\n" + outer) == "output-fusion/copy"


def test_a_fusion_that_names_no_kind_is_a_fusion() -> None:
    called = fused("ROOT n = f32[256] negate(p)")
    assert kind_of("y = f32[256] fusion(x), calls=fused", called) == "fusion"


def test_every_instruction_of_the_bundled_programs_has_a_kind(bundled: Path) -> None:
    kinds = {
        instruction.kind
        for folder in bundled.iterdir()
        if folder.is_dir()
        for instruction in read_problem(folder).program.instructions
    }
    assert "" not in kinds
    assert len(kinds - TRANSPARENT) < 40
    assert {"output-fusion/convolution", "loop-fusion/reduce", "copy"} <= kinds
