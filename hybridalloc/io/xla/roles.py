"""What instructions do with buffers, guessed from the tables of XLA alone.

``bufferinfo`` tells when a buffer is defined and used, and ``scheduleinfo`` the names
of the instructions. Neither says what is an input of the program, what is written in
place, or what an instruction does. docs/format.md, XLA's tables, has the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hybridalloc.io.hlo.opcodes import ELEMENTWISE, MOVES, TRANSCENDENTAL
from hybridalloc.io.hlo.reader import TRANSPARENT
from hybridalloc.io.xla.rows import BufferRow

_ENDING = re.compile(r"(\.(\d+|clone|remat\d*))*$")
_MAKING = ELEMENTWISE | TRANSCENDENTAL | MOVES
_MAKING |= {"convolution", "custom-call", "dot", "fusion", "reduce", "reduce-window"}
_UPDATING = re.compile(r"update|scatter|^fusion")


@dataclass(frozen=True, slots=True)
class Role:
    """When a buffer is written and read."""

    row: BufferRow
    written: int | None
    """The instruction that writes it as a whole; None of an input."""
    reads: tuple[int, ...]
    """In schedule order, those that also update it among them."""
    updates: frozenset[int]
    """Those of the reads that write into it too."""
    is_output: bool

    @property
    def sites(self) -> tuple[int, ...]:
        """Every instruction that touches it."""
        return self.reads if self.written is None else (self.written, *self.reads)


def opcode(name: str) -> str:
    """What the compiler's names of instructions begin with.

    >>> opcode("copy.12"), opcode("add_rsqrt_fusion.3.clone")
    ('copy', 'add_rsqrt_fusion')
    """
    return _ENDING.sub("", name)


def kind(name: str) -> str:
    """The kind of an instruction, as far as its name tells."""
    found = opcode(name)
    return found if found in _MAKING | TRANSPARENT and found != "fusion" else ""


class Schedule:
    """The names of all instructions, and what is defined and used where."""

    def __init__(self, names: Sequence[str], rows: Sequence[BufferRow]) -> None:
        self.names = names
        self.rows = rows
        self._defining = {row.definition_time for row in rows}
        self._using = {time for row in rows for time in row.use_times}
        self._passing = [opcode(name) in TRANSPARENT for name in names]
        self._first = min((t for t in self._using if not self._passing[t]), default=0)

    def roles(self) -> Iterator[Role]:
        """What is done with the buffer of each row."""
        donated: set[int] = set()
        for row in self.rows:
            if self._is_input(row) and self._is_output(row):
                donated.update(self._rewriting(row))
        for row in self.rows:
            yield self._role(row, donated)

    def _role(self, row: BufferRow, donated: set[int]) -> Role:
        is_input, is_output = self._is_input(row), self._is_output(row)
        reads = self._reads(row)
        updates = set(self._rewriting(row)) if is_input and is_output else set()
        if not is_input:
            last = max((*row.use_times, row.definition_time))
            kept = len(self.names) if is_output else last
            updates = {t for t in reads if t < kept and self._updates(t) - donated}
        written = None if is_input else row.definition_time
        return Role(row, written, reads, frozenset(updates), is_output)

    def _reads(self, row: BufferRow) -> tuple[int, ...]:
        times = sorted({t for t in row.use_times if not self._passing[t]})
        return tuple(t for t in times if t != row.definition_time)

    def _is_input(self, row: BufferRow) -> bool:
        """Defined before anything is used, and not by the name of what computes."""
        t, uses = row.definition_time, row.use_times
        found = opcode(self.names[t])
        if found == "constant" or (uses and min(uses) < t):
            return True
        return t < self._first and not (found in _MAKING or found.endswith("fusion"))

    def _is_output(self, row: BufferRow) -> bool:
        """The last instruction is a tuple that takes it, or defines it."""
        last = len(self.names) - 1
        if opcode(self.names[last]) == "tuple":
            return last in row.use_times
        return row.definition_time == last

    def _rewriting(self, row: BufferRow) -> tuple[int, ...]:
        """Where an input gets the value that the program gives out.

        The last instruction that uses it and defines nothing of its own, if there is
        one; otherwise the last that uses it.
        """
        reads = self._reads(row)
        alone = [t for t in reads if t not in self._defining]
        return tuple((alone or reads)[-1:])

    def _updates(self, t: int) -> set[int]:
        """The instruction, if by its name and place it writes into what it uses."""
        updates = t not in self._defining and _UPDATING.search(self.names[t])
        return {t} if updates else set()
