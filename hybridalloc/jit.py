"""Compilation of inner loops."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

from numba import njit, types
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

from hybridalloc.interruption import postponed

F = TypeVar("F", bound=Callable[..., object])
_functions: list[Callable[..., object]] = []
"""All that are to be compiled, so far."""


def compiled(function: F) -> F:
    """Compile a function at its first call, and keep the result where that is possible.

    It runs without the interpreter's lock, so several can run in threads. What is kept
    is found again as long as the sources of all compiled functions that it calls, in
    whatever files, and the numbers that they take from their modules are the same.

    It must not hand a named tuple back to Python: numba runs Python to make one, which
    crashes if Ctrl-C comes just then.
    """
    dispatcher: Any = njit(nogil=True)(function)  # numba's types know less than it
    _functions.append(function)
    dispatcher.compile = _undisturbed(dispatcher.compile)
    dispatcher.get_call_template = _without_literals(dispatcher.get_call_template)
    try:
        dispatcher._cache = _Cache(function)  # type: ignore[no-untyped-call]
    except RuntimeError:  # neither beside the file nor in the user's own cache
        return cast(F, dispatcher)
    return cast(F, dispatcher)


def note_of(what: str) -> Path | None:
    """Where to note that something has been compiled here, as the sources are now.

    Returns:
        A file beside what is kept; nothing if nothing is kept.
    """
    stamps = [_stamp(cast(FunctionType, x)) for x in _functions]
    digest = hashlib.sha256("\n".join([what, *sorted(stamps)]).encode()).hexdigest()
    try:
        cache = _Cache(_functions[0])  # type: ignore[no-untyped-call]
    except RuntimeError:
        return None
    return Path(cache.cache_path) / f"{digest[:32]}.note"


def once(what: str, work: Callable[[], object]) -> None:
    """Do what compiles code, unless it has been done here, as the sources are now."""
    note = note_of(what)
    if note is not None and note.exists():
        return
    work()
    if note is not None:
        with suppress(OSError):
            note.touch()


def _undisturbed(compile_for: Callable[..., Any]) -> Callable[..., Any]:
    """Compiling, or loading what was compiled, which Ctrl-C would leave half done."""

    def compile_whole(*arguments: Any) -> Any:
        with postponed():
            return compile_for(*arguments)

    return compile_whole


def _without_literals(get_call_template: Callable[..., Any]) -> Callable[..., Any]:
    """One version of a function, whatever numbers and flags callers write out."""

    def get(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        return get_call_template(tuple(map(types.unliteral, arguments)), keywords)

    return get


class _Cache(FunctionCache):
    """Numba's own, with a stamp of all that is compiled in, not just of one file."""

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Look for what was compiled for these types."""
        self._cache_file._source_stamp = _stamp(self._py_func)
        return super().load_overload(signature, context)  # type: ignore[no-untyped-call]


@cache
def _stamp(function: FunctionType) -> str:
    """What a compiled function depends on, its callees looked up as they are now."""
    found: dict[FunctionType, str] = {}
    waiting = [function]
    while waiting:
        one = waiting.pop()
        if one in found:
            continue
        known = [(name, one.__globals__.get(name)) for name in one.__code__.co_names]
        numbers = [x for x in known if isinstance(x[1], int | float | tuple)]
        found[one] = f"{_source(one.__code__.co_filename)} {numbers}"
        waiting += [x.py_func for _, x in known if isinstance(x, Dispatcher)]
    return hashlib.sha256("\n".join(sorted(found.values())).encode()).hexdigest()


@cache
def _source(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
