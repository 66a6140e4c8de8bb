import gzip
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hybridalloc.errors import InputError
from hybridalloc.io.json_format import loads_map, loads_problem, read_map, read_problem
from hybridalloc.io.json_format.fault import line_of

PAGE = Path(__file__).parents[2] / "docs" / "format.md"
PROBLEM_TEXT, MAP_TEXT = re.findall(
    r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
)
PROBLEM = loads_problem(PROBLEM_TEXT)
ODD_VALUES: list[Any] = [
    None, True, 0, -1, 2**53, 10**400, 1.5, 1e308, float("nan"), float("inf"), "",
    "w", "a\nb", "\0", [], [[]], {}, {"name": "x"},
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"version": 1', '"version": 2',
         "p:3: version: expected 1, the only version known here, found 2"),
        ("hybridalloc/problem", "hybridalloc/map",
         "p:2: format: expected 'hybridalloc/problem', found \"hybridalloc/map\""),
        ('"read_bytes": 1024}, {"buffer": "y"', '"read_bytes": -1}, {"buffer": "y"',
         "p:9: program.instructions[2].accesses[0].read_bytes: expected greater than "
         "or equal to 0, found -1"),
        ('"read_bytes": 1024}, {"buffer": "y"', '"read_bytes": "1"}, {"buffer": "y"',
         "p:9: program.instructions[2].accesses[0].read_bytes: expected a valid "
         'integer, found "1"'),
        ('"size": 2048', f'"size": {2**53}',
         "p:13: program.buffers[1].size: expected less than 9007199254740992, found "
         "9007199254740992"),
        ('"size": 2048', '"length": 2048',
         "p:13: program.buffers[1].size: this field is missing"),
        ('"size": 2048', '"size": 2048, "sise": 1',
         "p:13: program.buffers[1].sise: unknown field (docs/format.md lists the "
         "known)"),
        ('"compute_s": 1e-06', '"compute_s": NaN',
         "p:8: program.instructions[1].compute_s: expected a finite number, found NaN"),
        ('{"buffer": "x"', '{"buffer": "z"',
         "p:7: program.instructions[0].accesses[0].buffer: the program has no buffer "
         "'z'"),
        ('["w", "h"]', '["w", "z"]',
         "p:7: program.instructions[0].observations[1].fast[1]: the program has no "
         "buffer 'z'"),
        ('"name": "y", "size"', '"name": "x", "size"',
         "p:15: program.buffers[3].name: buffers[0] is called 'x' too"),
        ('"trip_count": 3', '"trip_count": {}',
         "p:18: program.loops[0].trip_count: expected a valid integer, found an "
         "object"),
        ('"start": 1, "end": 2, "trip', '"start": 2, "end": 2, "trip',
         "p:18: program.loops[0]: loop: expected 0 <= start < end, got start 2, end 2"),
        ('"capacity": 4096, ', "",
         "p:24: target.spaces[0]: the capacity of the fast memory is missing, expected "
         "its bytes"),
        ('"startup_s": 1e-07', '"startup_s": 1e400',
         "p:31: target.copy_engine.startup_s: expected a finite number, found "
         "Infinity"),
        ('[[3584, 4096]]', '[[4096, 3584]]',
         "p:24: target.spaces[0]: memory space fast: reserved range [4096, 3584) is "
         "empty"),
        ('"start": 0, "end": 3}', '"start": 3, "end": 3}',
         "p:37: compiler_map.allocations[0]: allocation of buffer 2: expected 0 <= "
         "start < end, got start 3, end 3"),
        ('"cost_model": "cycles"', '"cost_model": "guess"',
         "p:34: cost_model: expected 'roofline', 'cycles' or 'learned', "
         "found \"guess\""),
        ('"cost_model": "cycles",', '"cost_model": "cycles"',
         "p:35: Invalid JSON: expected `,` or `}` (column 3)"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_line_its_field_and_both_values(
    old: str, new: str, expected: str
) -> None:
    assert PROBLEM_TEXT.count(old) == 1
    with pytest.raises(InputError) as caught:
        loads_problem(PROBLEM_TEXT.replace(old, new), "p")
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"buffer": "y"', '"buffer": "v"',
         "m:10: allocations[2].buffer: the program has no buffer 'v'"),
        ('"due": 3', '"due": 2',
         "m:10: allocations[2].eviction: eviction: expected 0 <= issue <= due, got "
         "issue 3, due 2"),
        ('"issue": 1}', '"issue": 2}',
         "m:9: allocations[1]: allocation of buffer 1: slices issued at [0, 2], "
         "expected the first at start 0 and all by ready 1"),
    ],
)  # fmt: skip
def test_a_fault_in_a_map_is_told_in_the_same_way(
    old: str, new: str, expected: str
) -> None:
    assert MAP_TEXT.count(old) == 1
    with pytest.raises(InputError) as caught:
        loads_map(MAP_TEXT.replace(old, new), PROBLEM, "m")
    assert str(caught.value) == expected


def test_a_map_for_another_program_is_told_by_the_first_buffer_that_is_unknown() -> (
    None
):
    renamed = MAP_TEXT.replace("two_layers", "other")
    assert loads_map(renamed, PROBLEM) == loads_map(MAP_TEXT, PROBLEM)
    with pytest.raises(InputError) as caught:
        loads_map(renamed.replace('"buffer": "y"', '"buffer": "v"'), PROBLEM, "m")
    assert str(caught.value) == (
        "m:10: allocations[2].buffer: this map is for program 'other', not "
        "'two_layers', which has no buffer 'v'"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "p: the file is empty, expected a JSON object"),
        (" \n", "p: the file is empty, expected a JSON object"),
        ("[]", "p: expected an object, found an array"),
        ("{}", "p:1: format: this field is missing"),
        ("[" * 100_000, "p:1: Invalid JSON: recursion limit exceeded (column 202)"),
        ('{"a": ' * 100_000, "p:1: Invalid JSON: recursion limit exceeded (column "),
        ('{"version": ' + "9" * 5000 + "}", "p:1: Invalid JSON: number out of range"),
        ("HloModule m\n", "p:1: Invalid JSON: expected value (column 1)"),
        ("\0\1\2", "p:1: Invalid JSON: expected value (column 1)"),
        ("\ud800", "p: expected a valid string, unable to parse raw data as a unicode"),
        ('{"a\\nb": 1}', "p:1: format: this field is missing"),
    ],
)
def test_text_that_is_no_problem_is_told_in_one_line(text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        loads_problem(text, "p")
    assert str(caught.value).startswith(expected)
    assert len(str(caught.value).splitlines()) == 1


def test_names_cannot_break_the_line() -> None:
    text = PROBLEM_TEXT.replace('"h"', r'"a\n\u2028\u001b[1mb"').replace(
        '"whole": true', '"whole": false', 1
    )
    with pytest.raises(InputError) as caught:
        loads_problem(text)
    assert str(caught.value) == (
        "<string>:4: program: instruction 0 (multiply) uses buffer "
        r"a\n\u2028\x1b[1mb, which no earlier instruction writes as a whole"
    )


def test_the_line_is_that_of_the_deepest_field_there_is() -> None:
    text = '{"a": 1,\n "b": [{"c": 2},\n {"c": [3,\n4]}]}'
    assert line_of(text, ("b", 1, "c", 1)) == 4
    assert line_of(text, ("b", 1, "d")) == 3
    assert line_of(text, ("b", 7)) == 2
    assert line_of(text, ("e",)) == 1
    assert line_of('{"a', ("a",)) is None


@pytest.mark.parametrize("seed", range(3))
def test_damaged_bytes_read_or_are_an_input_error(tmp_path: Path, seed: int) -> None:
    generator = random.Random(seed)
    for number in range(100):
        text, read = _pick(generator)
        content = text.encode()
        if packed := generator.random() < 0.3:
            content = gzip.compress(content, mtime=0)
        path = tmp_path / f"{number}.json{'.gz' if packed else ''}"
        path.write_bytes(_damage_bytes(content, generator))
        _expect_one_line(path, read)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_structure_reads_or_is_an_input_error(
    tmp_path: Path, seed: int
) -> None:
    generator = random.Random(seed)
    refused = 0
    for number in range(100):
        text, read = _pick(generator)
        path = tmp_path / f"{number}.json"
        damaged = _damage_structure(json.loads(text), generator)
        path.write_text(json.dumps(damaged), encoding="utf-8")
        refused += _expect_one_line(path, read)
    assert refused > 50


def _pick(generator: random.Random) -> tuple[str, Callable[[Path], object]]:
    return generator.choice(
        [(PROBLEM_TEXT, read_problem), (MAP_TEXT, lambda path: read_map(path, PROBLEM))]
    )


def _expect_one_line(path: Path, read: Callable[[Path], object]) -> bool:
    """Whether the file is refused; fails on any error but a one-line ``InputError``."""
    try:
        read(path)
    except InputError as error:
        message = str(error)
    else:
        return False
    assert message.startswith(f"{path}:")
    assert len(message.splitlines()) == 1
    return True


def _damage_bytes(content: bytes, generator: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(generator.randint(1, 3)):
        low = generator.randrange(len(data) + 1)
        high = min(len(data), low + generator.choice([0, 1, 1, 8, len(data)]))
        data[low:high] = generator.randbytes(generator.choice([0, 0, 1, 1, 5]))
    return bytes(data)


def _damage_structure(content: Any, generator: random.Random) -> Any:
    """The content with one field, found by a random walk, dropped or replaced."""
    place = content
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = generator.choice(keys)
        inner = place[key]
        if not (isinstance(inner, dict | list) and inner) or generator.random() < 0.1:
            break
        place = inner
    match generator.randrange(4):
        case 0:
            del place[key]
        case 1 if isinstance(place, dict):
            place[f"{key}\n"] = place.pop(key)
        case 2 if isinstance(place, list):
            place.insert(0, place[key])
        case _:
            place[key] = generator.choice(ODD_VALUES)
    return content
