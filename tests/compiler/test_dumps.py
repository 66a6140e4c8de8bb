"""The texts that the compiler dumps."""

from __future__ import annotations

from pathlib import Path

from hybridalloc.compiler.dumps import is_assigned, is_generated, without_sources
from hybridalloc.io.hlo.parser import parse_module

MODULE = """HloModule m, is_scheduled=true

FileNames
1 "a/b.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=17 end_line=17 column=4 end_column=26}

StackFrames
1 {file_location_id=1 parent_frame_id=1}


%fused (p: f32[8]) -> f32[8] {
  ROOT %p = f32[8]{0} parameter(0)
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0), metadata={op_name="x['{']" source_line=3}
  ROOT %y = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused, metadata={op_name="}"}
}
"""


def test_texts_lose_what_tells_of_source_lines_and_nothing_else() -> None:
    text = without_sources(MODULE)
    for gone in ("metadata", "b.py", "FileNames", "StackFrames", "file_location"):
        assert gone not in text
    module, original = parse_module(text), parse_module(MODULE)
    assert list(module.computations) == list(original.computations)
    assert module.entry.root.called("calls") == ["fused"]


def test_a_module_cut_short_is_not_complete(tmp_path: Path) -> None:
    path = tmp_path / "m.after_codegen.txt"
    for length in range(len(MODULE.rstrip())):
        path.write_text(MODULE[:length])
        assert not is_generated(tmp_path)
    path.write_text(MODULE)
    assert is_generated(tmp_path)
    assert not is_assigned(tmp_path)
