import gc
import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import memory_maps, problems

from hybridalloc.errors import InputError
from hybridalloc.io.json_format import (
    dumps_map,
    dumps_problem,
    loads_map,
    loads_problem,
    read_map,
    read_problem,
    records,
    write_map,
    write_problem,
)
from hybridalloc.memory_map import Allocation, Eviction, MemoryMap, Origin, Slice
from hybridalloc.problem import CostModel, Problem
from hybridalloc.program import Buffer, Instruction, Loop, Program
from hybridalloc.target import TARGETS, CopyEngine, MemorySpace, Target

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "format.md").read_text(encoding="utf-8")
PROBLEM_TEXT, MAP_TEXT = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
FILES = {"problem": records.ProblemFile, "map": records.MapFile}
FLOATS = st.floats(min_value=0, allow_nan=False, allow_infinity=False)


@st.composite
def named_problems(draw: st.DrawFn) -> Problem:
    """Problems with odd names, odd times, and sometimes the compiler's own map."""
    problem = draw(problems())
    count = len(problem.program.buffers)
    names = draw(st.lists(st.text(), min_size=count, max_size=count, unique=True))
    instructions = [
        replace(
            instruction,
            name=draw(st.text()),
            compute_s=draw(FLOATS),
            kind=draw(st.text()),
        )
        for instruction in problem.program.instructions
    ]
    program = Program(
        draw(st.text()),
        tuple(instructions),
        tuple(
            replace(buffer, name=name)
            for buffer, name in zip(problem.program.buffers, names, strict=True)
        ),
        problem.program.loops,
    )
    compiler_map = draw(st.none() | memory_maps(problem))
    return replace(problem, program=program, compiler_map=compiler_map)


@given(named_problems())
@settings(max_examples=60)
def test_a_problem_comes_back_as_it_was_written(problem: Problem) -> None:
    text = dumps_problem(problem)
    assert loads_problem(text) == problem
    assert dumps_problem(loads_problem(text)) == text


@given(st.data())
@settings(max_examples=60)
def test_a_map_comes_back_as_it_was_written(data: st.DataObject) -> None:
    problem = data.draw(named_problems())
    memory_map = data.draw(memory_maps(problem))
    assert loads_map(dumps_map(memory_map, problem), problem) == memory_map


@given(st.data())
@settings(max_examples=20)
def test_what_is_written_follows_the_schemas(data: st.DataObject) -> None:
    problem = data.draw(named_problems())
    memory_map = data.draw(memory_maps(problem))
    _validate("problem", json.loads(dumps_problem(problem)))
    _validate("map", json.loads(dumps_map(memory_map, problem)))


@pytest.mark.parametrize("suffix", ["json", "json.gz"])
def test_files_come_back_as_they_were_written(tmp_path: Path, suffix: str) -> None:
    problem, memory_map = _example()
    write_problem(problem, tmp_path / f"problem.{suffix}")
    write_map(memory_map, problem, tmp_path / f"map.{suffix}")
    assert read_problem(tmp_path / f"problem.{suffix}") == problem
    assert read_map(tmp_path / f"map.{suffix}", problem) == memory_map


def test_the_documented_problem_reads_as_the_page_says() -> None:
    problem, _ = _example()
    assert problem.cost_model is CostModel.CYCLES
    assert [i.name for i in problem.program.instructions] == [
        "multiply",
        "accumulate",
        "finish",
    ]
    assert [i.kind for i in problem.program.instructions] == ["dot", "", ""]
    assert problem.program.loops == (Loop(1, 2, trip_count=3),)
    assert [seen.fast for seen in problem.program.instructions[0].observations] == [
        (),
        (1, 2),  # w and h
    ]
    assert problem.target.fast == MemorySpace(
        "fast", 8e9, 8e9, 4096, 512, reserved=((3584, 4096),)
    )
    assert problem.target.copy_engine == CopyEngine(2, 40, startup_s=1e-7)
    assert problem.compiler_map == MemoryMap((Allocation(2, 512, 0, 3),))


def test_the_documented_map_reads_as_the_page_says() -> None:
    _, memory_map = _example()
    slices = Slice(1024, 0), Slice(1024, 1)
    assert memory_map.allocations == (
        Allocation(2, 512, 0, 3),
        Allocation(1, 1536, 0, 2, Origin.PREFETCHED, ready=1, slices=slices),
        Allocation(3, 1536, 2, 3, eviction=Eviction(3, 3)),
    )


def test_the_documented_files_are_what_the_program_writes() -> None:
    problem, memory_map = _example()
    assert dumps_problem(problem) == PROBLEM_TEXT
    assert dumps_map(memory_map, problem) == MAP_TEXT


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "tpu-v5e"])
def test_built_in_targets_come_back(name: str) -> None:
    problem = Problem(Program("p", (Instruction("i"),), ()), TARGETS[name])
    assert loads_problem(dumps_problem(problem)).target == TARGETS[name]


def test_a_field_that_is_left_out_has_the_default_of_its_data_type() -> None:
    spaces = MemorySpace("fast", 2.0, 2.0, 8), MemorySpace("slow", 1.0, 1.0)
    text = """{"format": "hybridalloc/problem", "version": 1,
        "program": {"name": "p", "instructions": [{"name": "i"}],
                    "buffers": [{"name": "b", "size": 4}]},
        "target": {"name": "t", "flops_per_second": 1, "clock_hz": 1, "spaces": [
            {"name": "fast", "read_bandwidth": 2, "write_bandwidth": 2, "capacity": 8},
            {"name": "slow", "read_bandwidth": 1, "write_bandwidth": 1}]}}"""
    assert loads_problem(text) == Problem(
        Program("p", (Instruction("i"),), (Buffer("b", 4),)),
        Target("t", spaces, flops_per_second=1.0, clock_hz=1.0),
    )


def test_an_empty_map_comes_back() -> None:
    problem, _ = _example()
    assert loads_map(dumps_map(MemoryMap(), problem), problem) == MemoryMap()


def test_a_map_of_a_larger_program_is_not_written(tmp_path: Path) -> None:
    problem, _ = _example()
    memory_map = MemoryMap((Allocation(7, 0, 0, 1),))
    with pytest.raises(InputError, match="buffer 7, but program two_layers has 4"):
        write_map(memory_map, problem, tmp_path / "map.json")
    assert not list(tmp_path.iterdir())


def test_a_number_that_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    problem, _ = _example()
    engine = replace(problem.target.copy_engine, max_slices=2**53)
    large = replace(problem, target=replace(problem.target, copy_engine=engine))
    with pytest.raises(InputError, match="max_slices: expected less than"):
        write_problem(large, tmp_path / "problem.json")
    assert not list(tmp_path.iterdir())


def test_reading_leaves_garbage_collection_as_it_was() -> None:
    assert gc.isenabled()
    with pytest.raises(InputError):
        loads_problem("{}")
    assert gc.isenabled()
    gc.disable()
    try:
        loads_problem(PROBLEM_TEXT)
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("kind", FILES)
def test_the_schema_files_are_in_step_with_the_records(
    kind: str, tmp_path: Path
) -> None:
    """If not: ``write_schemas(Path("docs/schema"))`` of ``records`` renews them."""
    records.write_schemas(tmp_path)
    name = f"{kind}.schema.json"
    written = (tmp_path / name).read_text(encoding="utf-8")
    assert (DOCS / "schema" / name).read_text(encoding="utf-8") == written


def test_the_documented_files_follow_the_schemas() -> None:
    _validate("problem", json.loads(PROBLEM_TEXT))
    _validate("map", json.loads(MAP_TEXT))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"version": 1', '"version": 2'),
        ('"version": 1', '"version": 1, "extra": 1'),
        ('"ready": 1', '"ready": -1'),
        ('"end": 3', '"end": 1e400'),
        ('"origin": "prefetched"', '"origin": "fetched"'),
        ('"buffer": "w", ', ""),
    ],
)
def test_schema_and_reader_refuse_the_same_file(old: str, new: str) -> None:
    problem, _ = _example()
    text = MAP_TEXT.replace(old, new, 1)
    assert text != MAP_TEXT
    with pytest.raises(jsonschema.ValidationError):
        _validate("map", json.loads(text))
    with pytest.raises(InputError):
        loads_map(text, problem)


@pytest.mark.parametrize("record", records.Record.__subclasses__())
def test_every_field_of_a_record_has_a_description_of_its_own(
    record: type[records.Record],
) -> None:
    for name, field in record.model_fields.items():
        assert field.description, name


def test_the_schema_tells_outputs_from_cross_program_inputs() -> None:
    fields = records.BufferRecord.model_fields
    assert "after the program ends" in str(fields["is_output"].description)
    assert "cross-program prefetch" in str(fields["cross_program"].description)


@pytest.mark.parametrize("record", records.Record.__subclasses__())
def test_the_page_names_the_fields_and_defaults_of_every_record(
    record: type[records.Record],
) -> None:
    heading = record.__name__.removesuffix("Record")
    section = re.split(r"\n##+ ", PAGE.split(f"### {heading}\n")[1])[0]
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|", section, re.MULTILINE)
    documented = {name: default.strip(" `") or None for name, default in rows}
    assert documented == {
        name: None if field.is_required() else _as_json(field.default)
        for name, field in record.model_fields.items()
    }


def _as_json(default: object) -> str:
    if isinstance(default, records.Record):
        return default.model_dump_json(exclude_defaults=True)
    return json.dumps(default)


def _validate(kind: str, content: object) -> None:
    path = DOCS / "schema" / f"{kind}.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(content)


def _example() -> tuple[Problem, MemoryMap]:
    problem = loads_problem(PROBLEM_TEXT)
    return problem, loads_map(MAP_TEXT, problem)
