"""What the compiler dumps while it compiles, and when that is complete.

Memory space assignment leaves three tables, then the module as it has become. Code
generation leaves the module once more, with the cycles that it estimates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from hybridalloc.compiler.task import DUMP

_MODULES = {
    "before_msa.hlo": "*.before_msa.txt",
    "after_msa.hlo": "*.after_optimizations.txt",
}
"""Modules of a workload folder, and what the compiler calls their texts."""
_TABLES = {
    "bufferinfo.csv": "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,"
    "use_times,use_names,is_scoped\n",
    "allocinfo.csv": "buffer_id,size,offset,start_time,end_time\n",
    "scheduleinfo.csv": None,
}
"""Its tables, and their texts where nothing was to be placed; the schedule is not
known then."""
_GENERATED = "*.after_codegen.txt"

_SOURCE_TABLE = re.compile(
    r"^(?:FileNames|FunctionNames|FileLocations|StackFrames)\n(?:\d+ .*\n)*\n*", re.M
)
_METADATA = re.compile(
    r', (?:metadata|origin)=\{(?:[^{}"]|"(?:[^"\\]|\\.)*"|\{[^}]*\})*\}'
)


def flags() -> tuple[list[str], list[str]]:
    """What has the compiler dump into ``DUMP``: flags of XLA and of libtpu."""
    xla = [f"--xla_dump_to={DUMP}", "--xla_dump_hlo_as_text"]
    libtpu = [
        f"--xla_jf_dump_to={DUMP}",
        "--xla_jf_dump_hlo_text=true",
        "--xla_jf_dump_llo_text=false",
        "--xla_jf_dump_category_filter=msa",
        "--xla_tpu_impure_dump_includes_before_msa=true",
    ]
    return xla, libtpu


def is_assigned(folder: Path) -> bool:
    """Whether all that memory space assignment leaves is there."""
    return _is_closed(_newest(folder, _MODULES["after_msa.hlo"]))


def is_generated(folder: Path) -> bool:
    """Whether code generation has left its module."""
    return _is_closed(_newest(folder, _GENERATED))


def workload_texts(folder: Path) -> Iterator[tuple[str, str]]:
    """The files of a workload folder, by name, without what tells of source lines.

    Raises:
        FileNotFoundError: The compiler has left no such text.
    """
    for name, pattern in _MODULES.items():
        yield name, without_sources(_read(folder, pattern))
    for name, empty in _TABLES.items():
        pattern = f"*-memory-space-assignment-{name.removesuffix('.csv')}.txt"
        path = _newest(folder, pattern)
        text = empty if path is None else path.read_text()
        if text is not None:
            yield name, text


def generated_text(folder: Path) -> str:
    """The module after code generation.

    Raises:
        FileNotFoundError: The compiler has left none.
    """
    return _read(folder, _GENERATED)


def without_sources(text: str) -> str:
    """A module's text without the tables and attributes that name source lines.

    >>> without_sources('a = f32[] add(b, c), metadata={op_name="x/{y}"}, kind=k')
    'a = f32[] add(b, c), kind=k'
    """
    return _METADATA.sub("", _SOURCE_TABLE.sub("", text))


def _newest(folder: Path, pattern: str) -> Path | None:
    """Of several modules, or several attempts at one, the last."""
    found = folder.glob(pattern)
    return max(found, key=lambda path: path.stat().st_mtime_ns, default=None)


def _read(folder: Path, pattern: str) -> str:
    path = _newest(folder, pattern)
    if path is None:
        raise FileNotFoundError(f"there is no file {pattern}")
    return path.read_text()


def _is_closed(path: Path | None) -> bool:
    """Whether a module's text is there up to the end of its last computation."""
    if path is None:
        return False
    text = path.read_text(errors="replace")
    return text.rstrip().endswith("\n}") and "\nENTRY " in text
