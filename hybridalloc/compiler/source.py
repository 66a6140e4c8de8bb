"""What is to be compiled: a function and its arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hybridalloc.compiler.pickling import pickled
from hybridalloc.errors import CompilerError, UsageError

_ARRAY = re.compile(r"([a-z]\w*)\[(\s*|\s*\d+\s*(?:,\s*\d+\s*)*)\]")
_NAME = re.compile(r"[A-Za-z_]\w*")

EXTRA = 'pip install "jax[tpu]>=0.10" "cloudpickle>=3"'
"""What installs the compiler."""

DTYPES = {
    "pred": "bool",
    "bf16": "bfloat16",
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"s{bits}": f"int{bits}" for bits in (4, 8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (4, 8, 16, 32, 64)},
    "c64": "complex64",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
}
"""XLA's names of element types that a specification may have, and numpy's, which it
may have as well."""


@dataclass(frozen=True, slots=True)
class Source:
    """A function and its arguments, in a file or pickled.

    ``in_file`` and ``of_function`` make one.
    """

    name: str
    """How messages call it."""
    path: Path | None = None
    """The Python file that defines the function."""
    function: str = ""
    """Its name there."""
    arguments: str = ""
    """Shapes, such as ``bf16[64,4096],f32[10]``, or the name of a function in the
    file that returns the arguments."""
    pickled: bytes = b""
    """In place of a file: the function and the tuple of its arguments."""

    @property
    def label(self) -> str:
        """What it is, wherever its file is."""
        if self.path is None:
            return self.name
        return f"{self.path.name}:{self.function} {self.arguments}"


def in_file(function: str, arguments: str) -> Source:
    """The source that ``FILE.py:function`` and a specification of arguments name.

    Raises:
        UsageError: One of the two is not of its form, or there is no such file.
    """
    file, _, name = function.rpartition(":")
    if not file.endswith(".py") or not _NAME.fullmatch(name):
        raise UsageError(f"{function!r}: expected FILE.py:function")
    path = Path(file)
    if not path.is_file():
        raise UsageError(f"{function}: there is no file {file}")
    if not _NAME.fullmatch(arguments.strip()):
        parse_shapes(arguments)
    return Source(function, path.resolve(), name, arguments.strip())


def of_function(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Source:
    """The source that a function and its arguments are.

    Raises:
        CompilerError: They cannot be pickled, or what pickles them is missing.
    """
    name = getattr(function, "__name__", type(function).__name__)
    try:
        return Source(name, pickled=pickled((function, arguments)))
    except ImportError as error:
        raise CompilerError(f"{name}: {error}: {EXTRA}") from error
    except Exception as error:
        raise CompilerError(
            f"{name}: expected a function and arguments that can be pickled: {error}"
        ) from error


def parse_shapes(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """The element types, as numpy calls them, and dimensions in a specification.

    Raises:
        UsageError: It is none.

    >>> parse_shapes("bf16[64,4096], s32[]")
    [('bfloat16', (64, 4096)), ('int32', ())]
    """
    shapes: list[tuple[str, tuple[int, ...]]] = []
    rest = text.strip()
    while rest or not shapes:
        match = _ARRAY.match(rest)
        if match is None or rest.endswith(","):
            raise UsageError(
                f"arguments {text!r}: expected shapes such as bf16[64,4096],f32[10], "
                f"or the name of a function, got {rest!r}"
            )
        dtype = DTYPES.get(match[1], match[1])
        if dtype not in DTYPES.values():
            raise UsageError(
                f"arguments {text!r}: unknown element type {match[1]!r}; "
                f"known: {', '.join(DTYPES)}"
            )
        shapes.append((dtype, tuple(map(int, re.findall(r"\d+", match[2])))))
        rest = rest[match.end() :].lstrip()
        if rest and not rest.startswith(","):
            raise UsageError(f"arguments {text!r}: expected a comma before {rest!r}")
        rest = rest[1:].lstrip()
    return shapes
