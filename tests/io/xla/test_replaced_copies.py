"""Copies of the program that became prefetches of the compiler's own answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hlo_texts import hlo_text

from hybridalloc.io.xla.dump import XlaDump, read_dump
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.target import TARGETS


def copied(folder: Path, before: str, after: str, row: str) -> XlaDump:
    """A workload of two modules, with x in fast memory during a row's times."""
    files = {
        "before_msa.hlo": hlo_text(before),
        "after_msa.hlo": hlo_text(after),
        "bufferinfo.csv": "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,"
        'use_times\n3,"<3 x>",1e-9,1024,0,"1;2"\n',
        "allocinfo.csv": f"buffer_id,size,offset,start_time,end_time\n3,1024,0,{row}\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return read_dump(folder, TARGETS["tpu-v4i"])


COPYING = """
    x = f32[256] parameter(0)
    w = f32[256] negate(x)
    c = f32[256] copy(x)
    b = f32[2,128] bitcast(c)
    y = f32[2,128] negate(b)
"""


@pytest.mark.parametrize(
    ("issued", "awaited", "row", "expected"),
    [
        # The copy c, instruction 2, is done away with. Issued by its time, what is in
        # fast memory is what it writes there: c from 2 to y, the last use at 4.
        ("x", "w", "1,4", Allocation(0, 0, 2, 5)),
        # Issued later: c is written to slow memory and prefetched for y.
        ("w", "w", "4,4", Allocation(0, 0, 4, 5, Origin.PREFETCHED)),
    ],
)
def test_a_copy_of_the_program_that_became_a_prefetch_is_one_of_its_result(
    tmp_path: Path, issued: str, awaited: str, row: str, expected: Allocation
) -> None:
    start = "s = (f32[256]{0:S(3)}, f32[256], u32[]) copy-start(x)"
    done = "d = f32[256]{0:S(3)} copy-done(s)"
    lines = {
        "x": "x = f32[256] parameter(0)",
        "w": "w = f32[256] negate(x)",
    }
    after = "\n".join(
        "\n".join(
            [line, *([start] if name == issued else []), *([done] * (name == awaited))]
        )
        for name, line in lines.items()
    )
    after += "\nq = f32[2,128]{1,0:S(3)} bitcast(d)\ny = f32[2,128] negate(q)"
    dump = copied(tmp_path, COPYING, after, row)
    buffer = dump.program.buffer_index["c"]
    assert dump.compiler_map == MemoryMap((replace(expected, buffer=buffer),))


def test_what_became_of_a_copy_is_found_through_a_tuple_made_anew(
    tmp_path: Path,
) -> None:
    before = """
        x = f32[256] parameter(0)
        w = f32[256] negate(x)
        c = f32[256] copy(x)
        t = (f32[256], f32[256]) tuple(c, w)
        g = f32[256] get-tuple-element(t), index=0
        y = f32[256] negate(g)
    """
    after = """
        x = f32[256] parameter(0)
        s = (f32[256]{0:S(3)}, f32[256], u32[]) copy-start(x)
        w = f32[256] negate(x)
        d = f32[256]{0:S(3)} copy-done(s)
        t.1 = (f32[256]{0:S(3)}, f32[256]) tuple(d, w)
        g = f32[256]{0:S(3)} get-tuple-element(t.1), index=0
        y = f32[256] negate(g)
    """
    dump = copied(tmp_path, before, after, "1,5")
    buffer = dump.program.buffer_index["c"]
    assert dump.compiler_map == MemoryMap((Allocation(buffer, 0, 2, 6),))
