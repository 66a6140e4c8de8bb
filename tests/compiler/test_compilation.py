"""Compiling in a process of its own, with a stand-in for jax."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from process_ends import has_ended, is_running
from stand_in_jax import GOES_WRONG, LONG_S

from hybridalloc.compiler import compilation
from hybridalloc.compiler.compilation import (
    Request,
    Settings,
    Stage,
    compile_all,
    compile_program,
)
from hybridalloc.compiler.source import in_file, of_function
from hybridalloc.errors import CompilerError, UsageError
from hybridalloc.io.read import read_problem

pytestmark = pytest.mark.usefixtures("jax")

FILES = [
    "after_msa.hlo.gz",
    "allocinfo.csv.gz",
    "before_msa.hlo.gz",
    "bufferinfo.csv.gz",
    "capture.json",
    "scheduleinfo.csv.gz",
]


def compiled(
    function: str,
    work: Path,
    stage: Stage = Stage.ASSIGNMENT,
    *,
    arguments: str = "arguments",
    fuel: int | None = None,
    time_limit: float = 30,
    fault: str = "",
) -> Path:
    """Compile a function of a file to a folder."""
    folder = work / "out"
    options = {GOES_WRONG: fault} if fault else {}
    source = in_file(function, arguments)
    settings = Settings(options, fuel)
    compile_program(source, "tpu-v4i", settings, stage, folder, time_limit=time_limit)
    return folder


def refused(function: str, work: Path, **given: object) -> str:
    """The one line that a compile fails with; it leaves nothing behind."""
    with pytest.raises(CompilerError) as caught:
        compiled(function, work, **given)  # type: ignore[arg-type]
    assert set(names(work)) <= {"process.txt"}
    assert "\n" not in str(caught.value)
    return str(caught.value)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_compile_leaves_a_workload_that_can_be_read(program: str, work: Path) -> None:
    folder = compiled(f"{program}:double", work)
    assert names(folder) == FILES
    problem = read_problem(folder)
    assert [i.name for i in problem.program.instructions] == ["x", "doubled", "negated"]
    assert problem.compiler_map is not None
    (allocation,) = problem.compiler_map.allocations
    assert (allocation.offset, allocation.start, allocation.end) == (0, 1, 3)


def test_folders_may_have_blanks_in_their_names(program: str, work: Path) -> None:
    work = work / "of mine"
    work.mkdir()
    folder = compiled(f"{program}:double", work)
    assert len(read_problem(folder).program) == 3


def test_texts_do_not_tell_where_the_program_is(program: str, work: Path) -> None:
    folder = compiled(f"{program}:double", work)
    for name in ("before_msa.hlo.gz", "after_msa.hlo.gz"):
        text = gzip.decompress((folder / name).read_bytes()).decode()
        assert "somewhere" not in text
        assert "metadata" not in text


def test_the_same_compile_leaves_the_same_bytes(program: str, work: Path) -> None:
    def contents() -> list[bytes]:
        folder = compiled(f"{program}:double", work, Stage.CODE)
        return [path.read_bytes() for path in sorted(folder.iterdir())]

    assert contents() == contents()


def test_the_process_is_ended_once_its_files_are_there(
    program: str, work: Path
) -> None:
    begun = time.monotonic()
    compiled(f"{program}:double", work)
    assert time.monotonic() - begun < LONG_S
    assert has_ended(int((work / "process.txt").read_text()))


def test_to_the_end_it_leaves_estimates_too(program: str, work: Path) -> None:
    folder = compiled(f"{program}:double", work, Stage.CODE)
    assert names(folder) == sorted([*FILES, "estimates.csv.gz"])
    text = gzip.decompress((folder / "estimates.csv.gz").read_bytes()).decode()
    assert text.splitlines() == [
        "instruction_name,cycles,fast_operands,fast_outputs",
        "doubled,100,,0",
        "negated,100,0,",
    ]


def test_without_fuel_the_workload_says_that_nothing_is_placed(
    program: str, work: Path
) -> None:
    folder = compiled(f"{program}:double", work, fuel=0)
    assert "scheduleinfo.csv.gz" not in names(folder)
    answer = read_problem(folder).compiler_map
    assert answer is not None
    assert answer.allocations == ()


def test_arguments_may_be_shapes_or_several_or_pickled(
    program: str, work: Path
) -> None:
    compiled(f"{program}:double", work, arguments="bf16[64,4096]")
    compiled(f"{program}:takes_two", work, arguments="pair")
    source = of_function(repr, (3,))
    compile_program(source, "tpu-v4", Settings(), Stage.ASSIGNMENT, work / "out")


def test_a_workload_is_replaced_and_nothing_else_is(program: str, work: Path) -> None:
    compiled(f"{program}:double", work, Stage.CODE)
    folder = compiled(f"{program}:double", work)
    assert names(folder) == FILES
    assert names(work) == ["out", "process.txt"]
    (folder / "thesis.tex").touch()
    with pytest.raises(UsageError, match=r"found thesis\.tex in it"):
        compiled(f"{program}:double", work)
    shutil.rmtree(folder)
    folder.touch()
    with pytest.raises(UsageError, match="this is a file"):
        compiled(f"{program}:double", work)


def test_an_unknown_target_suggests_the_nearest(program: str, work: Path) -> None:
    source = in_file(f"{program}:double", "arguments")
    with pytest.raises(UsageError, match="did you mean 'tpu-v5e'"):
        compile_program(source, "tpu-v5", Settings(), Stage.CODE, work / "out")


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("fails", "arguments", r"line 8: ValueError: shapes differ"),
        ("double", "ends", r"line 17: SystemExit: not today"),
        ("double", "pair", r"TypeError: double\(\) takes 1 positional argument"),
        ("double", "text", r"ValueError: expected an array or a number among"),
        ("nowhere", "arguments", r"AttributeError: .* no attribute 'nowhere'"),
        ("double", "nowhere", r"AttributeError: .* no attribute 'nowhere'"),
    ],
)
def test_a_program_that_fails_is_named_with_its_exception(
    function: str, arguments: str, message: str, program: str, work: Path
) -> None:
    told = refused(f"{program}:{function}", work, arguments=arguments)
    assert told.startswith(f"{program}:{function}: the program fails: ")
    assert re.search(message, told)


def test_a_file_that_is_no_python_is_named_with_the_line(
    tmp_path: Path, work: Path
) -> None:
    path = tmp_path / "broken.py"
    path.write_text("import os\ndef f(:\n")
    assert "line 2: SyntaxError: " in refused(f"{path}:f", work)


def test_a_missing_compiler_names_what_installs_it(
    no_jax: Path, program: str, work: Path
) -> None:
    told = refused(f"{program}:double", work)
    assert "the compiler is not installed" in told
    assert told.endswith('pip install "jax[tpu]>=0.10" "cloudpickle>=3"')


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("refuse", "refuses the program: RuntimeError: RESOURCE_EXHAUSTED: 20 GiB of"),
        ("abort", "was ended by SIGABRT: Check failed: 1 == 2"),
        ("killed", "the compiler was ended by SIGKILL"),
        ("no dump", "has left no dump of memory space assignment"),
        ("garbage", "expected what jax 0.10 dumps of memory space assignment"),
    ],
)
def test_a_compiler_that_fails_is_one_line(
    fault: str, message: str, program: str, work: Path
) -> None:
    told = refused(f"{program}:double", work, fault=fault)
    assert message in told
    assert "harmless" not in told


def test_a_compile_that_takes_too_long_is_ended(program: str, work: Path) -> None:
    told = refused(f"{program}:double", work, fault="hang", time_limit=1)
    assert "still compiling after the time limit of 1 s" in told
    told = refused(
        f"{program}:double", work, stage=Stage.CODE, fault="slow code", time_limit=2
    )
    assert "still compiling" in told
    assert has_ended(int((work / "process.txt").read_text()))


def test_a_full_disk_is_one_line(
    program: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(compilation, "write_text", full)
        told = refused(f"{program}:double", work)
    assert "cannot write this folder: No space left on device" in told
    usage = SimpleNamespace(free=4096)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    assert "no space left" in refused(f"{program}:double", work, fault="no dump")


def test_one_failure_ends_all_that_compile_beside_it(program: str, work: Path) -> None:
    source = in_file(f"{program}:double", "arguments")
    requests = [
        Request(source, "tpu-v4i", Settings(options), Stage.CODE, work / name)
        for name, options in {
            "good": {GOES_WRONG: "slow code"},
            "bad": {GOES_WRONG: "refuse"},
        }.items()
    ]
    with pytest.raises(CompilerError, match="refuses"):
        compile_all(requests)
    assert not (work / "good").exists()


def test_ctrl_c_ends_the_process(program: str, work: Path) -> None:
    def interrupt() -> None:
        while not (work / "process.txt").exists():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        compiled(f"{program}:double", work, Stage.CODE, fault="slow code")
    assert has_ended(int((work / "process.txt").read_text()))
    assert names(work) == ["process.txt"]


def test_the_process_ends_with_the_one_that_wants_it(
    program: str, work: Path, root: Path
) -> None:
    code = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        f"from pathlib import Path\n"
        f"from hybridalloc.compiler.compilation import *\n"
        f"from hybridalloc.compiler.source import in_file\n"
        f"compile_program(in_file({program + ':double'!r}, 'arguments'), 'tpu-v4i', "
        f"Settings({{{GOES_WRONG!r}: 'slow code'}}), Stage.CODE, "
        f"Path({str(work / 'out')!r}))\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=root)
    deadline = time.monotonic() + 30
    while not (work / "process.txt").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    child = int((work / "process.txt").read_text())
    assert is_running(child)
    parent.kill()
    parent.wait()
    assert has_ended(child)
