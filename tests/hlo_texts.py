"""Short HLO modules, for tests that write only the lines that matter."""

from __future__ import annotations

from hybridalloc.io.hlo.module import HloModule
from hybridalloc.io.hlo.parser import parse_module
from hybridalloc.io.hlo.reader import HloProgram, read_module, value_name
from hybridalloc.io.hlo.schedule import Schedule, flatten
from hybridalloc.io.hlo.storage import Storage
from hybridalloc.program import Access

ADD = """
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
"""

FLOPS_PER_SECOND = 1e12


def hlo_text(entry: str, called: str = "", header: str = "") -> str:
    """A scheduled module: its entry's instructions, and the computations it calls."""
    first = ", ".join(filter(None, ["HloModule m", "is_scheduled=true", header]))
    return f"{first}\n\n{called.strip()}\n\nENTRY main {{\n{entry.strip()}\n}}\n"


def parsed(entry: str, called: str = "", header: str = "") -> HloModule:
    return parse_module(hlo_text(entry, called, header))


def flat(entry: str, called: str = "") -> Schedule:
    return flatten(parsed(entry, called))


def read(entry: str, called: str = "", header: str = "") -> HloProgram:
    return read_module(hlo_text(entry, called, header), None, FLOPS_PER_SECOND)


def accesses(hlo: HloProgram, name: str) -> dict[str, Access]:
    """What an instruction does, by the name of the buffer."""
    program = hlo.program
    instruction = next(i for i in program.instructions if i.name == name)
    return {program.buffers[a.buffer].name: a for a in instruction.accesses}


def groups(entry: str, called: str = "", header: str = "") -> list[str]:
    """Values that share storage, as names in schedule order, one string a group."""
    module = parsed(entry, called, header)
    schedule = flatten(module)
    storage = Storage(module, schedule)
    return [
        " ".join(value_name(schedule, value) for value in values)
        for values in storage.groups.values()
    ]


def shared(entry: str, called: str = "", header: str = "") -> list[str]:
    """The groups of more than one value."""
    return [group for group in groups(entry, called, header) if " " in group]
