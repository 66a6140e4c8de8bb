"""Buffers that are pinned to fast memory."""

from __future__ import annotations

from hybridalloc.program import Memory, Program


def pinned(program: Program) -> list[int]:
    """The buffers whose every access must be served from fast memory, largest first."""
    found = [
        index
        for index, buffer in enumerate(program.buffers)
        if buffer.memory is Memory.FAST and program.uses[index]
    ]
    return sorted(found, key=lambda index: (-program.buffers[index].size, index))
