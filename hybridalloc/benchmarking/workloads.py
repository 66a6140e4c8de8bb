"""The inputs of a benchmark: which there are in some folders."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from hybridalloc.errors import InputError
from hybridalloc.io.files import is_folder, read_text
from hybridalloc.io.minimalloc import is_csv, is_header
from hybridalloc.io.models import PROGRAM_SUFFIXES, is_model
from hybridalloc.io.read import holds_buffers
from hybridalloc.report.tables import short_name

_MODULES = ("before_msa.hlo.gz", "before_msa.hlo")
"""What a workload folder holds, one or the other."""
_TEXTS = (".json", ".json.gz", ".hlo", ".hlo.gz", ".csv", ".csv.gz")
_PROBLEM = '"hybridalloc/problem"'
_WORD = re.compile(r"[^\W\d_]{2,}")
_DIGEST_LENGTH = 16


@dataclass(frozen=True, slots=True)
class Workload:
    """A program, or a CSV file of buffers, to try strategies on."""

    path: Path
    name: str
    digest: str
    """Of the content of its files."""
    family: str
    """Which programs are like it."""


def find_workloads(paths: Iterable[Path]) -> tuple[Workload, ...]:
    """The inputs that these paths hold, each once, in the order of their names.

    Args:
        paths: Each a workload folder, a problem file, scheduled HLO text, a CSV file
            of buffers, a model file, or a folder that holds any of these.

    Raises:
        InputError: A path does not exist or cannot be read, or holds no program.
    """
    found: dict[Path, Workload] = {}
    for path in paths:
        try:
            inside = {each.resolve(): _workload(each) for each in _within(path)}
        except OSError as error:
            raise InputError(path, f"cannot read this folder: {error}") from error
        if not inside:
            raise InputError(
                path,
                "expected a workload folder, a problem file, scheduled HLO text, a CSV "
                "file of buffers, a model file, or a folder that holds some",
            )
        found = inside | found
    distinct = {(x.name, x.digest): x for x in found.values()}
    return tuple(distinct[key] for key in sorted(distinct))


def family_of(name: str) -> str:
    """Which programs one of this name is like: its first word, without numbers.

    >>> [family_of(x) for x in ("resnet50_b32", "llm_decode16", "t5_small", "7")]
    ['resnet', 'llm', 't5', '7']
    """
    first = name.strip("_").partition("_")[0]
    word = _WORD.match(first)
    return word[0] if word else first or name


def _within(path: Path) -> Iterator[Path]:
    if not is_folder(path) or _is_workload(path):
        yield path
        return
    for entry in sorted(path.iterdir()):
        if entry.is_dir():
            if _is_workload(entry):
                yield entry
        elif _is_program(entry):
            yield entry


def _is_workload(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _MODULES)


def _is_program(path: Path) -> bool:
    """Whether a file that was not named itself is one to read: an index is not."""
    if is_model(path):
        return path.suffix.lower() in PROGRAM_SUFFIXES
    if not path.name.endswith(_TEXTS):
        return False
    if is_csv(path):
        return holds_buffers(path) and is_header(read_text(path).partition("\n")[0])
    return ".hlo" in path.suffixes or _PROBLEM in read_text(path)


def _workload(path: Path) -> Workload:
    name = short_name(str(path))
    return Workload(path, name, _digest(path), _family(path, name))


def _digest(path: Path) -> str:
    """Of a file's bytes, or of the names and bytes of a folder's files."""
    if not is_folder(path):
        return _file_digest(path)[:_DIGEST_LENGTH]
    total = sha256()
    for file in sorted(x for x in path.iterdir() if x.is_file()):
        total.update(f"{file.name}\0{_file_digest(file)}\0".encode())
    return total.hexdigest()[:_DIGEST_LENGTH]


def _file_digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot read this file: {error}") from error


def _family(path: Path, name: str) -> str:
    """What the folder's ``stats.json`` says, or what the name does."""
    stats = path / "stats.json"
    if stats.is_file():
        try:
            said = json.loads(read_text(stats))
        except ValueError:
            said = None
        if isinstance(said, dict) and isinstance(said.get("family"), str):
            return str(said["family"])
    return family_of(name)
