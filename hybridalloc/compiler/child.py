"""The process that compiles: ``python -m hybridalloc.compiler.child FOLDER``.

The folder holds its task, and takes what the compiler dumps. Where it fails it leaves
there why. The end of standard input means that who wanted it is gone: then it ends,
with all processes of its group.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from numbers import Number
from pathlib import Path
from typing import Any

from hybridalloc.compiler.task import PICKLED, Culprit, Fault, Task


def main(folder: Path) -> int:
    """Do the task in this folder.

    Returns:
        The exit code.
    """
    threading.Thread(target=_end_when_alone, daemon=True).start()
    task = Task.read(folder)
    try:
        _compile(task, folder)
    except Fault as fault:
        fault.write(folder)
        return 1
    return 0


def _compile(task: Task, folder: Path) -> None:
    with _blaming(Culprit.EXTRA):
        import jax
        import libtpu  # noqa: F401 (jax finds it by itself)
        from jax.experimental import topologies
    with _blaming(Culprit.COMPILER):
        bounds = task.chips_per_host and list(task.chips_per_host)
        given = {"chips_per_host_bounds": bounds} if bounds else {}
        topology = topologies.get_topology_desc(
            platform="tpu", topology_name=task.topology, **given
        )
        place = jax.sharding.SingleDeviceSharding(topology.devices[0])
    with _blaming(Culprit.PROGRAM, task.file):
        function, arguments = _load(task, folder)
        if not hasattr(function, "lower"):
            function = jax.jit(function)
        lowered = function.lower(*_placed(arguments, place))
    with _blaming(Culprit.COMPILER), chdir(folder):
        lowered.compile(compiler_options=task.options or None)


def _load(task: Task, folder: Path) -> tuple[Any, tuple[Any, ...]]:
    """The function and its arguments."""
    if task.file is None:
        function, arguments = pickle.loads((folder / PICKLED).read_bytes())
        return function, arguments
    module = _load_module(Path(task.file))
    function = getattr(module, task.function)
    if task.shapes is None:
        returned = getattr(module, task.arguments)()
        is_several = isinstance(returned, tuple | list)
        return function, tuple(returned) if is_several else (returned,)
    import jax

    return function, tuple(
        jax.ShapeDtypeStruct(tuple(shape), dtype) for dtype, shape in task.shapes
    )


def _load_module(path: Path) -> Any:
    """Run a Python file, which finds its neighbours as a script would."""
    sys.path.insert(0, str(path.parent))
    name = f"program_{path.stem}"  # shadows no other module
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _placed(arguments: tuple[Any, ...], place: Any) -> Any:
    """The arguments with shapes on a device in place of arrays.

    Numbers go where the arrays are; they may be arguments that the function's own
    ``jax.jit`` declares static. Without arrays they are shapes on the device too.
    """
    import jax

    leaves = jax.tree.leaves(arguments)
    has_arrays = any(_is_array(leaf) for leaf in leaves)
    if not has_arrays and not any(isinstance(leaf, Number) for leaf in leaves):
        raise ValueError("expected an array or a number among the arguments")

    def placed(leaf: Any) -> Any:
        if not (_is_array(leaf) if has_arrays else isinstance(leaf, Number)):
            return leaf
        shape = jax.eval_shape(lambda x: x, leaf)
        return jax.ShapeDtypeStruct(
            shape.shape, shape.dtype, sharding=place, weak_type=shape.weak_type
        )

    return jax.tree.map(placed, arguments)


def _is_array(leaf: object) -> bool:
    return hasattr(leaf, "dtype")


@contextmanager
def _blaming(culprit: Culprit, file: str | None = None) -> Iterator[None]:
    """Turn whatever goes wrong within the block into a fault of this culprit's."""
    try:
        yield
    except (Exception, SystemExit) as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())
        line = _line_of(error, file)
        raise Fault(
            culprit, told if line is None else f"line {line}: {told}"
        ) from error


def _line_of(error: BaseException, file: str | None) -> int | None:
    """The last line of this file on the way to an error."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    return lines[-1] if lines else None


def _end_when_alone() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
