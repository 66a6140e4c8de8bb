"""The text of a scheduled HLO module, parsed line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hybridalloc.io.hlo.module import Computation, HloInstruction, HloModule
from hybridalloc.io.hlo.shape import COMMENT, parse_shape, split_top_level
from hybridalloc.io.hlo.verifier import faults

_HEADER = re.compile(r"HloModule\s+([^\s,]+)")
_COMPUTATION = re.compile(r"(ENTRY\s+)?%?([\w.\-]+)\s*(\(.*)?\{\s*$")
_ASSIGNMENT = re.compile(r"(ROOT\s+)?%?([\w.\-]+)\s*=\s*")
_OPCODE = re.compile(r"\s*([a-z][\w\-]*)\(")
_NAME = re.compile(r"%?([\w.\-]+)$")
_TOKEN = re.compile(r'[(){}]|"(?:[^"\\]|\\.)*"')


class HloSyntaxError(ValueError):
    """The text is not a scheduled HLO module; knows the line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def parse_module(text: str) -> HloModule:
    """Parse the text of a scheduled module.

    Raises:
        HloSyntaxError: It is not one, is cut short, or names what it does not define.
    """
    lines = _logical_lines(text)
    number, header = next((x for x in lines if _HEADER.match(x[1])), (1, ""))
    match = _HEADER.match(header)
    if match is None:
        raise HloSyntaxError(number, "expected a line that starts with 'HloModule'")
    if "is_scheduled=true" not in header:
        raise HloSyntaxError(
            number,
            "the module is not scheduled: expected is_scheduled=true in its first line",
        )
    parser = _Parser()
    last_line = number
    for last_line, line in lines:
        parser.feed(last_line, line)
    module = parser.finish(match[1], header, last_line)
    for line_number, message in faults(module, number):
        raise HloSyntaxError(line_number, message)
    return module


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that are not empty, numbered; one that ends in a comma takes the next."""
    begun, parts = 0, []
    for number, line in enumerate(text.split("\n"), 1):
        part = line.strip()
        if not part or part.startswith("//"):
            continue
        parts.append(part)
        begun = begun or number
        if not part.endswith((",", "(")):
            yield begun, " ".join(parts)
            begun, parts = 0, []
    if parts:
        yield begun, " ".join(parts)


@dataclass
class _Parser:
    """Collects computations; ``open`` is the one being read."""

    computations: dict[str, Computation] = field(default_factory=dict)
    entry: str | None = None
    open: str | None = None
    instructions: dict[str, HloInstruction] = field(default_factory=dict)
    root: HloInstruction | None = None

    def feed(self, number: int, line: str) -> None:
        if line.startswith("}"):
            self._close(number)
        elif self.open is None:
            self._open(number, line)
        else:
            self._instruction(number, line)

    def finish(self, name: str, header: str, last_line: int) -> HloModule:
        if self.open is not None:
            raise HloSyntaxError(
                last_line, f"the text ends within computation {self.open}"
            )
        if self.entry is None:
            raise HloSyntaxError(last_line, "expected an ENTRY computation, found none")
        return HloModule(name, self.computations, self.computations[self.entry], header)

    def _open(self, number: int, line: str) -> None:
        match = _COMPUTATION.match(line)
        if match is None:
            if re.match(r"\d|[A-Z]\w+$", line):
                return  # a table of source locations
            raise HloSyntaxError(
                number, f"expected the start of a computation, got {line[:60]!r}"
            )
        self.open = match[2]
        if self.open in self.computations:
            raise HloSyntaxError(number, f"computation {self.open} is defined twice")
        if match[1] and self.entry is not None:
            raise HloSyntaxError(number, f"{self.entry} is the ENTRY already")
        if match[1]:
            self.entry = self.open

    def _close(self, number: int) -> None:
        if self.open is None:
            raise HloSyntaxError(number, "a closing brace without a computation")
        if not self.instructions:
            raise HloSyntaxError(number, f"computation {self.open} is empty")
        instructions = tuple(self.instructions.values())
        root = self.root or instructions[-1]
        self.computations[self.open] = Computation(self.open, instructions, root)
        self.open, self.instructions, self.root = None, {}, None

    def _instruction(self, number: int, line: str) -> None:
        try:
            instruction, is_root = self._parse_instruction(number, line)
        except HloSyntaxError:
            raise
        except (ValueError, RecursionError) as error:
            raise HloSyntaxError(number, str(error)) from error
        if instruction.name in self.instructions:
            raise HloSyntaxError(number, f"{instruction.name} is defined twice")
        self.instructions[instruction.name] = instruction
        if is_root and self.root is not None:
            raise HloSyntaxError(number, f"{self.root.name} is the ROOT already")
        if is_root:
            self.root = instruction

    def _parse_instruction(self, number: int, line: str) -> tuple[HloInstruction, bool]:
        assignment = _ASSIGNMENT.match(line)
        if assignment is None:
            raise HloSyntaxError(
                number, f"expected 'name = shape opcode(...)', got {line[:60]!r}"
            )
        begin = assignment.end()
        end = _shape_end(line, begin)
        opcode = _OPCODE.match(line, end)
        if opcode is None:
            raise HloSyntaxError(
                number, f"expected an opcode after {line[:end][-60:]!r}"
            )
        close = _closing(line, opcode.end() - 1)
        inside = line[opcode.end() : close]
        literal = inside if opcode[1] in ("constant", "parameter", "iota") else ""
        names = [] if literal else split_top_level(COMMENT.sub("", inside))
        if opcode[1] == "parameter" and not literal.strip().isdigit():
            raise HloSyntaxError(
                number, f"expected a parameter number, got {literal!r}"
            )
        instruction = HloInstruction(
            name=assignment[2],
            opcode=opcode[1],
            shape=parse_shape(line[begin:end]),
            operands=tuple(self._operand(number, name) for name in names),
            attribute_text=line[close + 1 :].lstrip(", "),
            literal=literal,
            line=number,
        )
        return instruction, bool(assignment[1])

    def _operand(self, number: int, text: str) -> HloInstruction:
        match = _NAME.search(text)
        name = match[1] if match else text
        if name not in self.instructions:
            raise HloSyntaxError(
                number,
                f"operand {name!r} is not defined before its use in computation "
                f"{self.open}",
            )
        return self.instructions[name]


def _shape_end(line: str, begin: int) -> int:
    if line.startswith("(", begin):
        return _closing(line, begin) + 1
    end = line.find(" ", begin)
    return end if end >= 0 else len(line)


def _closing(line: str, begin: int) -> int:
    """Where the bracket that opens at ``begin`` closes."""
    depth = 0
    for match in _TOKEN.finditer(line, begin):
        if match[0] in "({":
            depth += 1
        elif match[0] in ")}":
            depth -= 1
            if depth == 0:
                return match.start()
    raise ValueError(f"unclosed bracket in {line[begin : begin + 60]!r}")
