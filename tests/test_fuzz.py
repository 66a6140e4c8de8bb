"""Mutated real files: reading them either works or says what is wrong with them."""

from __future__ import annotations

import gzip
import random
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from hybridalloc.errors import InputError, UsageError
from hybridalloc.io import json_format
from hybridalloc.io.read import read_problem
from hybridalloc.problem import CostModel

WORKLOADS = ("lstm_lm_b64_s128", "gcn3_train_n4096", "mixer_block_b128")
FILES = (
    "before_msa.hlo",
    "after_msa.hlo",
    "scheduleinfo.csv",
    "bufferinfo.csv",
    "allocinfo.csv",
    "cycles.csv",
)
MUTANTS = 20
"""How many of each file."""

Mutation = Callable[[bytes, random.Random], bytes]


def flip_bytes(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def delete_bytes(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    return data[:start] + data[start + rng.choice((1, 2, 10, 1000)) :]


def truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def repeat_bytes(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    return data[: start + rng.choice((1, 5, 50))] + data[start:]


def delete_line(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def repeat_line(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    lines.insert(rng.randrange(len(lines)), rng.choice(lines))
    return b"".join(lines)


def swap_lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def replace_number(data: bytes, rng: random.Random) -> bytes:
    digits = [i for i, byte in enumerate(data) if chr(byte).isdigit()]
    where = rng.choice(digits)
    number = rng.choice((b"-1", b"0", b"7", b"1e9", b"9" * 18, b"9" * 40, b""))
    return data[:where] + number + data[where + 1 :]


def swap_words(data: bytes, rng: random.Random) -> bytes:
    words = data.split(b" ")
    a, b = rng.randrange(len(words)), rng.randrange(len(words))
    words[a], words[b] = words[b], words[a]
    return b" ".join(words)


MUTATIONS: tuple[Mutation, ...] = (
    flip_bytes,
    delete_bytes,
    truncate,
    repeat_bytes,
    delete_line,
    repeat_line,
    swap_lines,
    replace_number,
    swap_words,
)


def refuses_or_reads(read: Callable[[], object]) -> bool:
    """Whether the input was refused in the proper way; anything else propagates."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read()
    except (InputError, UsageError):
        return True
    return False


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("file", FILES)
def test_a_mutated_dump_is_read_or_refused_with_an_input_error(
    workload: str, file: str, bundled: Path, tmp_path: Path
) -> None:
    folder = tmp_path / workload
    folder.mkdir()
    for path in (bundled / workload).iterdir():
        (folder / path.name).symlink_to(path)
    mutant = folder / f"{file}.gz"
    original = gzip.decompress(mutant.read_bytes())
    mutant.unlink()
    refused = 0
    for seed in range(MUTANTS):
        rng = random.Random(seed)
        mutation = MUTATIONS[seed % len(MUTATIONS)]
        (folder / file).write_bytes(mutation(original, rng))
        read = partial(read_problem, folder, cost_model=rng.choice(list(CostModel)))
        refused += refuses_or_reads(read)
    assert refused, "no mutation did any harm"


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_mutated_gzip_file_is_read_or_refused_with_an_input_error(
    mutation: Mutation, bundled: Path, tmp_path: Path
) -> None:
    data = (bundled / "lstm_lm_b64_s128" / "before_msa.hlo.gz").read_bytes()
    path = tmp_path / "mutant.hlo.gz"
    refused = 0
    for seed in range(MUTANTS):
        path.write_bytes(mutation(data, random.Random(seed)))
        refused += refuses_or_reads(lambda: read_problem(path))
    assert refused > MUTANTS // 2


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutated_problem_and_map_files_are_read_or_refused_with_an_input_error(
    mutation: Mutation, bundled: Path, tmp_path: Path
) -> None:
    problem = read_problem(bundled / "lstm_lm_b64_s128")
    assert problem.compiler_map is not None
    problem_data = json_format.dumps_problem(problem).encode()
    map_data = json_format.dumps_map(problem.compiler_map, problem).encode()
    path = tmp_path / "mutant.json"
    refused = 0
    for seed in range(MUTANTS):
        path.write_bytes(mutation(problem_data, random.Random(seed)))
        refused += refuses_or_reads(lambda: read_problem(path))
        path.write_bytes(mutation(map_data, random.Random(seed)))
        refused += refuses_or_reads(lambda: json_format.read_map(path, problem))
    assert refused, "no mutation did any harm"
