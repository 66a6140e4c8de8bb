"""What stands in for jax and the compiler: it dumps texts that are written here.

It knows one program, of three instructions. Options say how a compile goes wrong.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

GOES_WRONG = "stand_in"
"""The option that says how."""
MODULE = "module_0000.jit_f.cl_1"
SLOW = "f32[1024]{0:T(1024)}"
LONG_S = 60
"""How long what is to be ended would go on."""

LAYOUT = f"{{({SLOW})->{SLOW}}}"
TEXT = """HloModule jit_f, is_scheduled=true, entry_computation_layout=LAYOUT

FileNames
1 "/somewhere/program.py"

StackFrames
1 {file_location_id=1 parent_frame_id=1}


ENTRY %main (x: f32[1024]) -> f32[1024] {
  %x = SLOW parameter(0), metadata={op_name="x"}
  %doubled = FAST add(%x, %x), metadata={op_name="f/add" stack_frame_id=1}CYCLES
  ROOT %negated = SLOW negate(%doubled)CYCLES
}

"""
TABLES = {
    "bufferinfo": "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,"
    "use_times,use_names,is_scoped\n"
    '7,<1 doubled>,1e-06,4096,1,2,"negated, operand 0",0\n',
    "allocinfo": "buffer_id,size,offset,start_time,end_time\n7,4096,0,1,2\n",
    "scheduleinfo": "time,instruction_name\n0,x\n1,doubled\n2,negated\n",
}


@dataclass
class ShapeDtypeStruct:
    """The shape of an array."""

    shape: tuple[int, ...]
    dtype: str
    sharding: object = None
    weak_type: bool = False


class Function:
    """A function that can be lowered."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def lower(self, *arguments: Any) -> Lowered:
        self.function(*arguments)
        return Lowered()


class Lowered:
    """A function that can be compiled."""

    def compile(self, compiler_options: dict[str, str] | None) -> None:
        fault = (compiler_options or {}).get(GOES_WRONG, "")
        if fault in FAULTS:
            FAULTS[fault]()
            return
        folder = Path(flag("XLA_FLAGS", "xla_dump_to"))
        (folder.resolve().parent.parent / "process.txt").write_text(str(os.getpid()))
        is_placed = not os.environ["XLA_FLAGS"].endswith("memory_space_assignment=0")
        write(folder / f"{MODULE}.before_msa.txt", module(is_placed=False))
        if is_placed:
            for number, (name, text) in enumerate(TABLES.items()):
                start = f"17960-TLP-0{number}-memory-space-assignment"
                write(folder / f"{start}-{name}.txt", text)
        after = module(is_placed=is_placed)
        write(folder / f"{MODULE}.after_optimizations.txt", after, pause=0.2)
        if fault == "slow code":
            time.sleep(LONG_S)
        codegen = module(is_placed=is_placed, cycles=100 if is_placed else 150)
        write(folder / f"{MODULE}.after_codegen.txt", codegen)
        time.sleep(LONG_S)


def abort() -> None:
    print("F1130 07:56:23.69 284 choice.cc:27] Check failed: 1 == 2", file=sys.stderr)
    print("*** Check failure stack trace: ***\n    @ 0x7f", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGABRT)


def killed() -> None:
    print("E0000 INVALID_ARGUMENT: Error: harmless", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def refuse() -> None:
    raise RuntimeError("RESOURCE_EXHAUSTED: 20 GiB\nof 16 GiB")


FAULTS: dict[str, Callable[[], None]] = {
    "abort": abort,
    "killed": killed,
    "refuse": refuse,
    "hang": lambda: time.sleep(LONG_S),
    "no dump": lambda: None,
    "garbage": lambda: write(
        Path(flag("XLA_FLAGS", "xla_dump_to")) / f"{MODULE}.after_optimizations.txt",
        "\nENTRY %main {\n}",
    ),
}


def module(*, is_placed: bool, cycles: int | None = None) -> str:
    """The program's text, with its second instruction's output in fast memory."""
    fast = SLOW.replace(")}", ")S(3)}") if is_placed else SLOW
    config = f', backend_config={{"window_config":{{"estimated_cycles":"{cycles}"}}}}'
    text = TEXT.replace("CYCLES", "" if cycles is None else config)
    return text.replace("LAYOUT", LAYOUT).replace("FAST", fast).replace("SLOW", SLOW)


def write(path: Path, text: str, pause: float = 0.0) -> None:
    """Write a file in two parts, with seconds between them."""
    with path.open("w") as file:
        file.write(text[: len(text) // 2])
        file.flush()
        time.sleep(pause)
        file.write(text[len(text) // 2 :])


def flag(variable: str, name: str) -> str:
    """The value of a flag in a variable."""
    found = re.search(rf"--{name}=(\S+)", os.environ[variable])
    assert found is not None
    return found[1]


def get_topology_desc(platform: str, topology_name: str, **given: Any) -> Any:
    """The devices of a topology."""
    assert platform == "tpu"
    return SimpleNamespace(devices=[topology_name])


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """A pytree of tuples and lists with each leaf replaced."""
    if isinstance(tree, tuple | list):
        return type(tree)(tree_map(function, part) for part in tree)
    return function(tree)


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves of a pytree of tuples and lists."""
    if isinstance(tree, tuple | list):
        return [leaf for part in tree for leaf in tree_leaves(part)]
    return [tree]


topologies = SimpleNamespace(get_topology_desc=get_topology_desc)
tree = SimpleNamespace(map=tree_map, leaves=tree_leaves)
sharding = SimpleNamespace(SingleDeviceSharding=lambda device: device)
jit = Function


def eval_shape(function: Callable[..., Any], leaf: Any) -> ShapeDtypeStruct:
    """The shape of an array or number, which the function returns as it is."""
    shape, dtype = getattr(leaf, "shape", ()), getattr(leaf, "dtype", "float32")
    return ShapeDtypeStruct(tuple(shape), str(dtype))
