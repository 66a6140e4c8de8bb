"""What kind of work an HLO instruction does, in a word or two."""

from __future__ import annotations

from collections.abc import Iterator

from hybridalloc.io.hlo.module import HloInstruction, HloModule

HEAVIEST_FIRST = (
    *("convolution", "dot", "reduce-window", "select-and-scatter", "sort"),
    *("scatter", "gather", "dynamic-update-slice", "dynamic-slice", "reduce"),
    *("concatenate", "pad", "transpose", "copy"),
)
"""The opcodes by which fusions differ, from the one that matters most."""


class Kinds:
    """Tells the kinds of one module's instructions; remembers computations."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._heaviest: dict[str, str] = {}

    def kind(self, instruction: HloInstruction) -> str:
        """The opcode; of a fusion, its kind and its heaviest opcode, if it has any.

        A loop fusion that reduces is a ``loop-fusion/reduce``, and one that only
        computes element by element a ``loop-fusion``.
        """
        if instruction.opcode != "fusion":
            return instruction.opcode
        fusion_kind = instruction.attributes.get("kind", "").removeprefix("k").lower()
        family = f"{fusion_kind}-fusion".removeprefix("-")
        heaviest = self._heaviest_of(instruction)
        return f"{family}/{heaviest}" if heaviest else family

    def _heaviest_of(self, fusion: HloInstruction) -> str:
        called = ",".join(fusion.called("calls"))
        if called not in self._heaviest:
            opcodes = set(self._opcodes(fusion))
            heavy = (opcode for opcode in HEAVIEST_FIRST if opcode in opcodes)
            self._heaviest[called] = next(heavy, "")
        return self._heaviest[called]

    def _opcodes(self, fusion: HloInstruction) -> Iterator[str]:
        """What a fusion runs, in the fusions within it too."""
        for name in fusion.called("calls"):
            for instruction in self._module.computations[name].instructions:
                if instruction.opcode == "fusion":
                    yield from self._opcodes(instruction)
                else:
                    yield instruction.opcode
