"""The exceptions that a caller may want to catch.

``ValueError`` tells of a wrong value given to a constructor; the types here tell
of wrong input to the system as a whole::

    HybridAllocError
    ├── InputError     a file that cannot be read, or that says something impossible
    ├── UsageError     a strategy, target or option that does not exist or apply
    ├── CompilerError  a compile that did not give what was asked of it
    └── StrategyError  a strategy that broke its contract: a defect, not bad input
"""

from __future__ import annotations

from pathlib import Path


class HybridAllocError(Exception):
    """Base of every error that hybridalloc raises on purpose."""


class InputError(HybridAllocError):
    """An input that cannot be used: says what, where, and what was expected."""

    def __init__(self, path: Path | str, message: str, line: int | None = None) -> None:
        self.path, self.message, self.line = Path(path), message, line
        where = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {message}")


class UsageError(HybridAllocError):
    """A request that cannot be met, such as an unknown strategy or target."""


class CompilerError(HybridAllocError):
    """A compile that did not give what was asked of it: says of what, and why."""


class StrategyError(HybridAllocError):
    """A strategy that handed back an invalid map or a contradiction: a defect."""
