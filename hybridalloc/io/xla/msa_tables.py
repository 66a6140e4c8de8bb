"""A problem from the tables that XLA dumps, without the HLO.

``bufferinfo`` and ``scheduleinfo`` are needed; ``allocinfo`` adds the compiler's
answer. What they do not tell is guessed (docs/format.md, XLA's tables).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from hybridalloc.errors import InputError
from hybridalloc.io.hlo.reader import InputWarning
from hybridalloc.io.xla.recovery import recover
from hybridalloc.io.xla.roles import Role, Schedule, kind, opcode
from hybridalloc.io.xla.rows import BufferRow, read_buffer_rows, read_schedule_rows
from hybridalloc.io.xla.table_answer import read_table_answer
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Buffer, Instruction, Program
from hybridalloc.target import Target

BUFFERS, SCHEDULE, ALLOCATIONS = "bufferinfo", "scheduleinfo", "allocinfo"


def find_tables(path: Path) -> Path | None:
    """The ``bufferinfo`` of a folder without HLO, or the file itself if it is one.

    Args:
        path: A folder, or a file.

    Raises:
        InputError: The folder has several.
    """
    if path.is_file():
        return path if BUFFERS in path.name and _beside(path, SCHEDULE) else None
    found = [x for x in sorted(path.glob(f"*{BUFFERS}.*")) if _beside(x, SCHEDULE)]
    if len(found) > 1:
        raise InputError(
            path, f"{len(found)} tables of buffers, such as {found[0].name}; name one"
        )
    return found[0] if found else None


def read_tables(path: Path, target: Target) -> Problem:
    """The problem of a ``bufferinfo`` and of the tables beside it.

    Args:
        path: The file, which ``find_tables`` found.
        target: Its bandwidths turn benefits into bytes.

    Raises:
        InputError: A table cannot be read, or they do not belong together.
    """
    schedule_path = _beside(path, SCHEDULE)
    assert schedule_path is not None
    names = _names(schedule_path)
    rows = _known(path, read_buffer_rows(path), len(names))
    roles = list(Schedule(names, rows).roles())
    name = path.resolve().parent.name
    try:
        program = _program(name, names, roles, target)
    except ValueError as error:
        raise InputError(path, str(error)) from error
    _warn_of_loops(names)
    answer_path = _beside(path, ALLOCATIONS)
    answer = None
    if answer_path is not None:
        answer = read_table_answer(answer_path, program, roles, target)
    return Problem(program, target, compiler_map=answer)


def _beside(path: Path, table: str) -> Path | None:
    """The table of another name in the same place, compressed or not."""
    bare = path.with_name(path.name.replace(BUFFERS, table).removesuffix(".gz"))
    candidates = (bare, bare.with_name(f"{bare.name}.gz"))
    return next((x for x in candidates if x.is_file()), None)


def _names(path: Path) -> list[str]:
    rows = read_schedule_rows(path)
    for line, (expected, (time, _)) in enumerate(enumerate(rows), 2):
        if time != expected:
            raise InputError(path, f"time {time}, expected {expected}", line)
    if not rows:
        raise InputError(path, "no instructions, expected at least one")
    return [name for _, name in rows]


def _known(path: Path, rows: Sequence[BufferRow], length: int) -> list[BufferRow]:
    """One row for each buffer that has bytes: XLA may take up a buffer again."""
    for line, row in enumerate(rows, 2):
        latest = max((row.definition_time, *row.use_times))
        if latest >= length:
            raise InputError(
                path, f"time {latest}, but the schedule has {length} instructions", line
            )
    return list({row.buffer_id: row for row in rows if row.size > 0}.values())


def _program(
    name: str, names: Sequence[str], roles: Sequence[Role], target: Target
) -> Program:
    recovered = recover(roles, len(names), target)
    accesses: list[list[Access]] = [[] for _ in names]
    for b, (role, moved) in enumerate(zip(roles, recovered.site_bytes, strict=True)):
        for t in role.reads:
            written = max(1, moved[t]) if t in role.updates else 0
            accesses[t].append(Access(b, moved[t], written))
    for b, (role, moved) in enumerate(zip(roles, recovered.site_bytes, strict=True)):
        if role.written is not None:
            access = Access(b, 0, moved[role.written], whole=True)
            accesses[role.written].append(access)
    instructions = (
        Instruction(x, recovered.compute_s[t], tuple(accesses[t]), kind=kind(x))
        for t, x in enumerate(names)
    )
    return Program(name, tuple(instructions), tuple(_buffers(roles)))


def _buffers(roles: Sequence[Role]) -> Iterator[Buffer]:
    seen: Counter[str] = Counter()
    for role in roles:
        name = role.row.name
        seen[name] += 1
        yield Buffer(
            name if seen[name] == 1 else f"{name}#{seen[name]}",
            role.row.size,
            is_input=role.written is None,
            is_output=role.is_output,
        )


def _warn_of_loops(names: Sequence[str]) -> None:
    loops = [name for name in names if opcode(name) == "while"]
    if loops:
        warnings.warn(
            f"the tables do not tell where loops begin, so what runs in "
            f"{', '.join(loops)} is taken to run once",
            InputWarning,
            stacklevel=2,
        )
