"""An HLO module as its text says it: computations of instructions, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from hybridalloc.io.hlo.shape import Shape, ShapeIndex, split_top_level

CALLING = (
    *("calls", "to_apply", "condition", "body"),
    *("branch_computations", "true_computation", "false_computation"),
    "called_computations",
)
"""The attributes that name computations."""

_CALLING_IN = re.compile("|".join(f"{name}=" for name in CALLING))
_CALLED = re.compile(r"%?([\w.\-]+)")
_TRIP_COUNT = re.compile(r'known_trip_count\\?"?\s*:\s*\{\s*\\?"n\\?"\s*:\s*\\?"?(\d+)')
_ALIAS = re.compile(r"\{([\d,\s]*)\}:\s*\((\d+),\s*\{([\d,\s]*)\}")


@dataclass(frozen=True, eq=False)
class HloInstruction:
    """One instruction of a computation."""

    name: str
    opcode: str
    shape: Shape
    operands: tuple[HloInstruction, ...] = field(repr=False)
    attribute_text: str
    """Everything after the operands, parsed when asked for."""
    literal: str
    """What stands between the parentheses of a constant or parameter."""
    line: int
    """Of the text, for error messages."""

    @cached_property
    def attributes(self) -> dict[str, str]:
        """Attributes by name, as text."""
        pairs = (part.partition("=") for part in split_top_level(self.attribute_text))
        return {name.strip(): value.strip() for name, _, value in pairs}

    @cached_property
    def callees(self) -> tuple[str, ...]:
        """Every computation that it names, whatever for."""
        if _CALLING_IN.search(self.attribute_text) is None:
            return ()
        return tuple(self.called(*CALLING))

    def called(self, *names: str) -> list[str]:
        """The computations that these attributes name, in order."""
        return [
            name
            for attribute in names
            if f"{attribute}=" in self.attribute_text and attribute in self.attributes
            for name in _CALLED.findall(self.attributes[attribute])
        ]

    def integers(self, attribute: str) -> tuple[int, ...]:
        """The list of integers in an attribute such as ``dimensions={0,2}``."""
        return tuple(map(int, re.findall(r"-?\d+", self.attributes.get(attribute, ""))))

    @property
    def known_trip_count(self) -> int | None:
        """What the compiler noted of a while loop, if it did."""
        match = _TRIP_COUNT.search(self.attributes.get("backend_config", ""))
        return int(match[1]) if match else None

    @property
    def operand_aliases(self) -> Iterator[tuple[ShapeIndex, int, ShapeIndex]]:
        """Outputs that share storage: (output index, operand, index in operand)."""
        text = self.attributes.get("output_to_operand_aliasing", "")
        for output, operand, index in _ALIAS.findall(text):
            yield parse_index(output), int(operand), parse_index(index)


def parse_index(text: str) -> ShapeIndex:
    """Parse the digits of an index such as ``0, 1``."""
    return tuple(map(int, re.findall(r"\d+", text)))


@dataclass(frozen=True, eq=False, repr=False)
class Computation:
    """Instructions in order; their root is the value that the computation returns."""

    name: str
    instructions: tuple[HloInstruction, ...]
    root: HloInstruction

    @cached_property
    def parameters(self) -> tuple[HloInstruction, ...]:
        """Its parameters by number."""
        found = [i for i in self.instructions if i.opcode == "parameter"]
        return tuple(sorted(found, key=lambda i: int(i.literal)))

    @cached_property
    def users(self) -> dict[HloInstruction, list[HloInstruction]]:
        """For each instruction, those that take it as an operand (each once)."""
        users: dict[HloInstruction, list[HloInstruction]] = {
            i: [] for i in self.instructions
        }
        for instruction in self.instructions:
            for operand in dict.fromkeys(instruction.operands):
                users[operand].append(instruction)
        return users


@dataclass(frozen=True, eq=False, repr=False)
class HloModule:
    """A scheduled module."""

    name: str
    computations: dict[str, Computation]
    entry: Computation
    header: str
    """The text's first line."""

    @property
    def input_output_aliases(self) -> Iterator[tuple[ShapeIndex, int, ShapeIndex]]:
        """Donated parameters: (output index, parameter number, index in it)."""
        match = re.search(
            r"input_output_alias=\{((?:[^{}]|\{[^{}]*\})*)\}", self.header
        )
        for output, parameter, index in _ALIAS.findall(match[1] if match else ""):
            yield parse_index(output), int(parameter), parse_index(index)
