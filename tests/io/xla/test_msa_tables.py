"""Problems from XLA's tables alone: what they tell, and what is guessed of the rest."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from hybridalloc.checker import check
from hybridalloc.errors import InputError
from hybridalloc.io.hlo.reader import InputWarning
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import Allocation, Eviction, Origin, Slice
from hybridalloc.problem import Problem
from hybridalloc.program import Access, Program
from hybridalloc.target import TARGETS

V4I = TARGETS["tpu-v4i"]
KIB = 1024
MIB = 2**20
SAVED = 1 / V4I.slow.read_bandwidth - 1 / V4I.fast.read_bandwidth
"""Seconds that fast memory saves for each byte."""

HEAD = (
    "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names\n"
)
ANSWER_HEAD = "buffer_id,size,offset,start_time,end_time\n"


def row(
    number: int, name: str, moved: float, defined: int, *uses: int, size: int = MIB
) -> str:
    """A row of ``bufferinfo`` of a buffer whose sites save for so many bytes."""
    benefit = moved * SAVED / math.sqrt(size)
    times = ";".join(map(str, uses))
    return f'{number},"<{number} {name}>",{benefit},{size},{defined},"{times}",\n'


def write(folder: Path, names: str, rows: str, answer: str | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    schedule = "".join(f"{t},{name}\n" for t, name in enumerate(names.split()))
    (folder / "scheduleinfo.csv").write_text(f"time,instruction_name\n{schedule}")
    (folder / "bufferinfo.csv").write_text(HEAD + rows)
    if answer is not None:
        (folder / "allocinfo.csv").write_text(ANSWER_HEAD + answer)
    return folder


def accesses(program: Program, t: int) -> dict[str, Access]:
    return {program.buffers[a.buffer].name: a for a in program.instructions[t].accesses}


def read(folder: Path, names: str, rows: str, answer: str | None = None) -> Problem:
    return read_problem(write(folder, names, rows, answer))


def test_what_nothing_computes_is_an_input_and_what_the_last_tuple_takes_an_output(
    tmp_path: Path,
) -> None:
    rows = (
        row(1, "w.1", MIB, 0, 1)
        + row(2, "fusion.2", 2 * MIB, 1, 2)
        + row(3, "iota.3", MIB, 3, 4)
        + row(4, "negate.4", MIB, 4, 5)
    )
    names = "w.1 fusion.2 copy.9 iota.3 negate.4 tuple.5"
    problem = read(tmp_path / "layers", names, rows)
    program = problem.program
    assert program.name == "layers"
    assert [i.name for i in program.instructions] == names.split()
    assert [i.kind for i in program.instructions] == [
        *("", "", "copy", "iota", "negate", "tuple")
    ]
    facts = [(b.name, b.size, b.is_input, b.is_output) for b in program.buffers]
    assert facts == [
        ("w.1", MIB, True, False),
        ("fusion.2", MIB, False, False),
        ("iota.3", MIB, False, False),
        ("negate.4", MIB, False, True),
    ]
    assert accesses(program, 1) == {
        "w.1": Access(0, MIB),
        "fusion.2": Access(1, 0, MIB, whole=True),
    }
    assert accesses(program, 5) == {}
    assert problem.compiler_map is None


def test_an_answer_whose_last_instruction_is_no_tuple_is_its_value(
    tmp_path: Path,
) -> None:
    program = read(
        tmp_path, "w.1 negate.2", row(1, "w.1", MIB, 0, 1) + row(2, "negate.2", MIB, 1)
    ).program
    assert [buffer.is_output for buffer in program.buffers] == [False, True]


def test_a_donated_input_is_rewritten_by_the_last_that_defines_nothing_else(
    tmp_path: Path,
) -> None:
    rows = row(1, "w.1", 3 * MIB, 0, 1, 2, 3, 4) + row(2, "fusion.9", MIB, 3, 4)
    names = "w.1 copy_fusion.1 subtract_fusion.2 fusion.9 tuple.1"
    rows += row(3, "copy_fusion.1", MIB, 1, 2)
    program = read(tmp_path, names, rows).program
    assert (program.buffers[0].is_input, program.buffers[0].is_output) == (True, True)
    assert [accesses(program, t)["w.1"].writes for t in (1, 2, 3)] == [
        *(False, True, False)
    ]


def test_an_update_by_name_writes_into_what_it_uses(tmp_path: Path) -> None:
    rows = (
        row(1, "w.1", MIB, 0, 2)
        + row(2, "broadcast.1", 3 * MIB, 1, 2, 3)
        + row(3, "negate.2", MIB, 3, 4)
    )
    names = "w.1 broadcast.1 dynamic-update-slice_fusion negate.2 tuple"
    program = read(tmp_path, names, rows).program
    assert accesses(program, 2) == {
        "w.1": Access(0, MIB),
        "broadcast.1": Access(1, MIB, MIB),
    }
    assert not accesses(program, 3)["broadcast.1"].writes


def test_benefits_are_shared_over_the_instructions_that_move_longer_than_they_compute(
    tmp_path: Path,
) -> None:
    """`add.2` computes: of `x` it saves nothing, and it takes 8 us longer."""
    rows = (
        row(1, "x.1", 1.5 * MIB, 0, 2, 3, 4)
        + row(2, "b.1", -8e-6 / SAVED, 1, 2)
        + row(3, "add.2", MIB, 2, 3)
        + row(4, "copy.3", 2 * MIB, 3, 4)
        + row(5, "copy.4", MIB, 4, 5)
    )
    program = read(tmp_path, "x.1 b.1 add.2 copy.3 copy.4 tuple.9", rows).program
    assert accesses(program, 3)["x.1"].read_bytes == 0.75 * MIB
    assert accesses(program, 4)["x.1"].read_bytes == 0.75 * MIB
    assert accesses(program, 2)["x.1"].read_bytes == MIB
    moving_s = 3 * MIB / V4I.slow.read_bandwidth
    compute_s = [i.compute_s for i in program.instructions]
    assert compute_s[2] == pytest.approx(moving_s + 8e-6)
    assert compute_s[3:5] == [0, 0]


def test_rows_that_xla_repeats_are_one_buffer_and_two_of_one_name_are_told_apart(
    tmp_path: Path,
) -> None:
    rows = row(1, "w.1", MIB, 0, 1) * 2 + row(2, "w.1", MIB, 0, 1)
    program = read(tmp_path, "w.1 copy.1", rows + row(3, "copy.1", MIB, 1)).program
    assert [buffer.name for buffer in program.buffers] == ["w.1", "w.1#2", "copy.1"]


def test_the_answer_is_told_from_its_rows(tmp_path: Path) -> None:
    """`fusion.2` is produced there, and evicted for its use by `fusion.6`.

    The prefetch of `w.1` begins in space of which `fusion.2` holds the second half
    until instruction 3, so it comes in quarters. Rows of a part of a buffer (`w.1`
    again), or of one that is not listed, tell nothing.
    """
    rows = (
        row(1, "w.1", MIB, 0, 4)
        + row(2, "fusion.2", 3 * MIB, 1, 2, 5)
        + row(3, "copy.3", MIB, 2, 3)
        + row(4, "copy.4", 2 * MIB, 3, 4)
        + row(5, "fusion.5", MIB, 4, 5)
        + row(6, "fusion.6", MIB, 5, 6)
    )
    names = "w.1 fusion.2 copy.3 copy.4 fusion.5 fusion.6 tuple.7"
    half = MIB // 2
    answer = (
        f"2,{MIB},{half},1,3\n"
        f"1,{MIB},0,2,4\n"
        f"4,{MIB},{4 * MIB},3,3\n4,{MIB},{4 * MIB},4,4\n"
        f"1,{half},{8 * MIB},2,4\n"
        f"99,{MIB},{16 * MIB},0,6\n"
    )
    problem = read(tmp_path, names, rows, answer)
    assert problem.compiler_map is not None
    quarters = tuple(Slice(MIB // 4, t) for t in (2, 2, 4, 4))
    assert problem.compiler_map.allocations == (
        Allocation(1, half, 1, 4, eviction=Eviction(2, 3)),
        Allocation(0, 0, 2, 5, Origin.PREFETCHED, ready=4, slices=quarters),
        Allocation(3, 4 * MIB, 3, 5),
    )
    assert not check(problem, problem.compiler_map)


def test_loops_are_told_of(tmp_path: Path) -> None:
    rows = row(1, "w.1", MIB, 0, 1) + row(2, "copy.1", MIB, 1, 2, 3)
    write(tmp_path, "w.1 copy.1 while.3 tuple.4", rows)
    with pytest.warns(InputWarning, match="what runs in while.3 is taken to run once"):
        read_problem(tmp_path)


def test_the_table_itself_and_a_raw_dump_are_read_too(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "a",
        "w.1 copy.1",
        row(1, "w.1", MIB, 0, 1) + row(2, "copy.1", MIB, 1),
    )
    expected = read_problem(folder)
    assert read_problem(folder / "bufferinfo.csv") == expected
    for table in ("bufferinfo", "scheduleinfo"):
        raw = f"module_0001.jit_f.memory-space-assignment-{table}.txt"
        (folder / f"{table}.csv").rename(folder / raw)
    assert read_problem(folder) == expected


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("bufferinfo.csv", HEAD + '1,"<1 w>",0,4,0,"9",\n', "2: time 9, but the sched"),
        (
            "bufferinfo.csv",
            "buffer_id\n",
            "1: expected the columns buffer_id, buffer_n",
        ),
        *(
            (
                "bufferinfo.csv",
                HEAD + f'1,"<1 w.1>",{benefit},4,0,"1",\n',
                f"2: alt_mem_benefit: expected a number, got '{benefit}'",
            )
            for benefit in ("x", "nan", "inf", "1e308")
        ),
        ("scheduleinfo.csv", "time,instruction_name\n1,w\n", "2: time 1, expected 0"),
        ("scheduleinfo.csv", "time,instruction_name\n", ": no instructions, expected"),
        ("allocinfo.csv", ANSWER_HEAD + "1,4,0,0\n", "2: expected 5 fields"),
    ],
)
def test_a_table_that_is_wrong_is_told_with_its_line(
    tmp_path: Path, file: str, text: str, message: str
) -> None:
    write(tmp_path, "w.1 copy.1", row(1, "w.1", MIB, 0, 1))
    (tmp_path / file).write_text(text)
    with pytest.raises(InputError, match=f"{file}:? ?{message}"):
        read_problem(tmp_path)


def test_a_folder_with_tables_of_two_modules_asks_for_one(tmp_path: Path) -> None:
    folder = write(tmp_path, "w.1", row(1, "w.1", MIB, 0))
    for table in ("bufferinfo", "scheduleinfo"):
        shutil.copy(folder / f"{table}.csv", folder / f"other-{table}.csv")
    with pytest.raises(InputError, match=r"2 tables of buffers, such as buff"):
        read_problem(folder)


def test_a_table_of_buffers_alone_is_not_enough(tmp_path: Path) -> None:
    write(tmp_path, "w.1", row(1, "w.1", MIB, 0))
    (tmp_path / "scheduleinfo.csv").unlink()
    with pytest.raises(InputError, match=r"or the tables bufferinfo.csv and schedule"):
        read_problem(tmp_path)


@pytest.mark.parametrize("name", ["bert_base_b16_s128", "gcn3_train_n4096"])
def test_a_bundled_workload_reads_alike_by_its_tables(
    bundled: Path, tmp_path: Path, name: str
) -> None:
    full = read_problem(bundled / name)
    for table in ("bufferinfo", "scheduleinfo", "allocinfo"):
        shutil.copy(bundled / name / f"{table}.csv.gz", tmp_path)
    bare = read_problem(tmp_path)
    assert bare.compiler_map is not None
    assert full.compiler_map is not None
    assert not check(bare, bare.compiler_map)
    count = len(full.compiler_map.allocations)
    assert count - 4 <= len(bare.compiler_map.allocations) <= count
    facts = {(b.name, b.size, b.is_input, b.is_output) for b in bare.program.buffers}
    assert facts <= {
        (b.name, b.size, b.is_input, b.is_output) for b in full.program.buffers
    }
