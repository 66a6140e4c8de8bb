"""Workload folders: the program agrees with the compiler's own tables."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hlo_texts import hlo_text

from hybridalloc.checker import check
from hybridalloc.errors import InputError
from hybridalloc.io.hlo.reader import InputWarning, parse_hlo
from hybridalloc.io.xla.dump import XlaDump, read_dump
from hybridalloc.io.xla.fidelity import Fidelity, fidelity, reads_despite_copy
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.oracle import execute
from hybridalloc.problem import Problem
from hybridalloc.target import TARGETS

V4I = TARGETS["tpu-v4i"]

BUNDLED = [
    *("bert_base_b16_s128", "dcgan_train_b128", "gcn3_train_n4096"),
    *("lstm_lm_b64_s128", "mixer_block_b128", "resnet50_b32", "wide_deep_b8192"),
]


@pytest.fixture(scope="module", params=BUNDLED)
def dump(request: pytest.FixtureRequest, bundled: Path) -> XlaDump:
    return read_dump(bundled / request.param, V4I)


def test_every_row_of_bufferinfo_agrees_in_size_times_and_benefit(
    dump: XlaDump,
) -> None:
    assert dump.buffer_rows
    rows = len(dump.buffer_rows)
    assert fidelity(dump, V4I) == Fidelity(rows, rows, rows, rows)


def test_the_compiler_fetches_the_largest_weight_across_programs(dump: XlaDump) -> None:
    assert dump.compiler_map is not None
    weights = [
        buffer.size
        for buffer, uses in zip(dump.program.buffers, dump.program.uses, strict=True)
        if buffer.is_input and buffer.cross_program and uses and not buffer.is_output
    ]
    chosen = {
        dump.program.buffers[allocation.buffer]
        for allocation in dump.compiler_map.allocations
        if allocation.origin is Origin.CROSS_PROGRAM
    }
    assert all(buffer.cross_program for buffer in chosen)
    assert [buffer.size for buffer in chosen] == [max(weights)]


def test_the_compilers_answer_is_rebuilt_and_read_where_its_layouts_say(
    dump: XlaDump,
) -> None:
    assert dump.compiler_map is not None
    assert dump.after is not None
    assert len(dump.compiler_map) > 0
    assert reads_despite_copy(dump.after, dump.compiler_map) == (0, 0)


def test_a_wrong_answer_is_told_from_the_layouts(dump: XlaDump) -> None:
    """With nothing in fast memory, or everything, all reads of the other kind err."""
    assert dump.after is not None
    end = len(dump.program)
    everything = MemoryMap(
        tuple(
            Allocation(buffer, 0, 0, end, Origin.CROSS_PROGRAM)
            for buffer in range(len(dump.program.buffers))
        )
    )
    slow_in_fast, none = reads_despite_copy(dump.after, everything)
    nothing, fast_in_slow = reads_despite_copy(dump.after, MemoryMap())
    assert (none, nothing) == (0, 0)
    assert slow_in_fast > 0  # XLA has nearly everything in fast memory
    assert fast_in_slow > len(dump.program) / 3


def test_the_loop_of_the_language_model_runs_once_for_each_of_128_steps(
    bundled: Path,
) -> None:
    (loop,) = read_dump(bundled / "lstm_lm_b64_s128", V4I).program.loops
    assert loop.trip_count == 128


def test_on_the_full_set_all_rows_agree_and_the_answers_are_valid(
    shared_workloads: Path,
) -> None:
    for folder in sorted(path for path in shared_workloads.iterdir() if path.is_dir()):
        dump = read_dump(folder, V4I)
        found = fidelity(dump, V4I)
        assert found is not None
        assert found.bufferinfo_matched == found.bufferinfo_rows > 0
        assert found.benefit_within_1pct >= 0.9 * found.benefit_rows
        assert dump.compiler_map is not None
        assert dump.after is not None
        assert reads_despite_copy(dump.after, dump.compiler_map) == (0, 0)
        problem = Problem(dump.program, V4I)
        assert check(problem, dump.compiler_map) == ()
        assert execute(problem, dump.compiler_map) == ()


def test_estimates_of_cycles_become_observations(tmp_path: Path) -> None:
    write(tmp_path, "before_msa.hlo", PROGRAM)
    write(tmp_path, "cycles.csv", f"{CYCLES}y,70,100,0;1,0\nz,,30,,\n")
    dump = read_dump(tmp_path, V4I)
    seen = {i.name: i.observations for i in dump.program.instructions}
    index = dump.program.buffer_index
    fast = tuple(sorted(index[name] for name in ("x", "y")))  # operand 1 is x too
    assert [(o.fast, o.cycles) for o in seen["y"]] == [((), 100), (fast, 70)]
    assert [(o.fast, o.cycles) for o in seen["z"]] == [((), 30)]
    assert seen["x"] == ()
    assert all(not i.observations for i in dump.hlo.program.instructions)


def test_only_the_module_is_needed(tmp_path: Path) -> None:
    packed = gzip.compress(PROGRAM.encode())
    (tmp_path / "before_msa.hlo.gz").write_bytes(packed)
    dump = read_dump(tmp_path, V4I)
    assert [i.name for i in dump.program.instructions] == ["x", "y", "z"]
    assert dump.program.name == tmp_path.name
    assert (dump.buffer_rows, dump.after, dump.compiler_map) == (None, None, None)


PROGRAM = hlo_text(
    "x = f32[256] parameter(0)\ny = f32[256] add(x, x)\nz = f32[256] negate(y)"
)
AFTER = hlo_text(
    "x = f32[256] parameter(0)\ny = f32[256]{0:S(3)} add(x, x)\nz = f32[256] negate(y)"
)
SCHEDULE = "time,instruction_name\n"
BUFFERS = "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times\n"
ALLOCATIONS = "buffer_id,size,offset,start_time,end_time\n"
CYCLES = "instruction_name,cycles_msa,cycles_hbm,fast_operands,fast_outputs\n"


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def write_all(folder: Path) -> None:
    """A folder in which everything agrees."""
    write(folder, "before_msa.hlo", PROGRAM)
    write(folder, "after_msa.hlo", AFTER)
    write(folder, "scheduleinfo.csv", f"{SCHEDULE}0,x\n1,y\n2,z\n")
    write(folder, "bufferinfo.csv", f'{BUFFERS}7,"<7 y>",1e-9,1024,1,"2"\n')
    write(folder, "allocinfo.csv", f"{ALLOCATIONS}7,1024,4096,1,2\n")
    write(folder, "cycles.csv", CYCLES)


def test_a_small_folder_is_read_as_its_tables_say(tmp_path: Path) -> None:
    write_all(tmp_path)
    dump = read_dump(tmp_path, V4I)
    # y is produced by instruction 1 and last read by 2: [1, 3).
    y = dump.program.buffer_index["y"]
    assert dump.compiler_map == MemoryMap((Allocation(y, 4096, 1, 3),))


@pytest.mark.parametrize(
    ("name", "text", "line", "expected"),
    [
        ("before_msa.hlo", PROGRAM.rstrip("}\n"), 8, "the text ends within"),
        ("before_msa.hlo", PROGRAM.replace("(y)", "(w)"), 8, "operand 'w'"),
        ("after_msa.hlo", AFTER.replace("(y)", "(w)"), 8, "operand 'w'"),
        ("after_msa.hlo", "", 1, "expected a line that starts with 'HloModule'"),
        ("scheduleinfo.csv", f"{SCHEDULE}0,x\n1,w\n2,z\n", 3, "instruction 1 is w"),
        ("scheduleinfo.csv", f"{SCHEDULE}0,x\n2,y\n", 3, "instruction 2 is y"),
        ("scheduleinfo.csv", f"{SCHEDULE}0,x\n", None, "1 instructions, but the"),
        ("scheduleinfo.csv", "time\n0\n", 1, "instruction_name missing"),
        ("scheduleinfo.csv", "", 1, "expected the columns time, instruction_name"),
        ("scheduleinfo.csv", f"{SCHEDULE}0,x,9\n", 2, "expected 2 fields"),
        ("scheduleinfo.csv", f"{SCHEDULE}0\n", 2, "expected 2 fields"),
        ("scheduleinfo.csv", f"{SCHEDULE}a,x\n", 2, "time: expected an integer"),
        (
            "bufferinfo.csv",
            f'{BUFFERS}7,"<7 y>",?,9,1,2\n',
            2,
            "expected a number, got",
        ),
        ("bufferinfo.csv", f'{BUFFERS}7,"<7 y>",1,-9,1,2\n', 2, "size: -9 is not in"),
        ("bufferinfo.csv", f'{BUFFERS}7,"<7 y>",1,9,1,2;b\n', 2, "use_times: expected"),
        ("allocinfo.csv", f"{ALLOCATIONS}7,1024,?,1,2\n", 2, "offset: expected an"),
        ("cycles.csv", f"{CYCLES}y,1.5,,,\n", 2, "cycles_msa: expected an integer"),
    ],
)
def test_what_is_wrong_in_a_folder_is_an_error_with_file_and_line(
    tmp_path: Path, name: str, text: str, line: int | None, expected: str
) -> None:
    write_all(tmp_path)
    write(tmp_path, name, text)
    with pytest.raises(InputError) as caught:
        read_dump(tmp_path, V4I)
    assert expected in caught.value.message
    assert (caught.value.path, caught.value.line) == (tmp_path / name, line)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("7,999,4096,1,2", "gives buffer y 999 bytes, expected 1024"),
        ("8,1024,4096,1,2", "names a buffer that bufferinfo lacks"),
    ],
)
def test_an_answer_that_does_not_fit_is_left_out_with_a_warning(
    tmp_path: Path, row: str, reason: str
) -> None:
    write_all(tmp_path)
    write(tmp_path, "allocinfo.csv", f"{ALLOCATIONS}{row}\n")
    with pytest.warns(InputWarning, match=reason):
        dump = read_dump(tmp_path, V4I)
    assert dump.compiler_map is None


def test_a_folder_without_a_module_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected a file before_msa\.hlo"):
        read_dump(tmp_path, V4I)


def test_a_table_may_have_fields_of_any_length(tmp_path: Path) -> None:
    write_all(tmp_path)
    uses = ";".join(["2"] * 100_000)
    write(tmp_path, "bufferinfo.csv", f'{BUFFERS}7,"<7 y>",1e-9,1024,1,"{uses}"\n')
    dump = read_dump(tmp_path, V4I)
    assert dump.buffer_rows is not None
    assert len(dump.buffer_rows[0].use_times) == 100_000


def test_a_module_alone_is_an_error_with_file_and_line_too() -> None:
    with pytest.raises(InputError) as caught:
        parse_hlo(PROGRAM.replace("negate(y)", "negate(y"), "m.txt", V4I)
    assert str(caught.value).startswith("m.txt:8: unclosed bracket")


def test_compute_times_are_those_of_the_target() -> None:
    program = parse_hlo(PROGRAM, "m.txt", V4I).program
    assert program.instructions[1].compute_s == 256 / 1.370e14
