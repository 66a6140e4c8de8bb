"""What the process that compiles is told, and what it tells when it fails.

Both are files in a folder that it shares with who wants the compile.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

TIME_LIMIT_S = 600.0
"""How long a compile may take, unless told otherwise."""
TASK, PICKLED, FAULT = "task.json", "program.pkl", "fault.json"
"""Files in the folder: what to do, the function and its arguments, what went wrong."""
DUMP = "dump"
"""The folder in it that the compiler dumps into. It compiles within the folder: flags
are split at blanks, which this path has none of."""


class Culprit(StrEnum):
    """What a compile fails by."""

    EXTRA = "extra"
    """The compiler is not installed."""
    PROGRAM = "program"
    """The function, its arguments or the file that defines them."""
    COMPILER = "compiler"


@dataclass(frozen=True, slots=True)
class Task:
    """What to compile, and how."""

    topology: str
    chips_per_host: tuple[int, int, int] | None
    options: dict[str, str]
    file: str | None
    """The Python file; ``None`` where function and arguments are pickled."""
    function: str = ""
    shapes: tuple[tuple[str, tuple[int, ...]], ...] | None = None
    """Element types and dimensions of the arguments; ``None`` where a function
    returns them."""
    arguments: str = ""
    """Its name."""

    def write(self, folder: Path) -> None:
        """Leave the task for the process."""
        (folder / TASK).write_text(json.dumps(asdict(self)))

    @staticmethod
    def read(folder: Path) -> Task:
        """The task in this folder."""
        return Task(**json.loads((folder / TASK).read_text()))


class Fault(Exception):
    """Why a compile fails."""

    def __init__(self, culprit: Culprit, message: str) -> None:
        super().__init__(message)
        self.culprit, self.message = culprit, message

    def write(self, folder: Path) -> None:
        """Leave it for who wanted the compile."""
        fields = {"culprit": self.culprit, "message": self.message}
        (folder / FAULT).write_text(json.dumps(fields))

    @staticmethod
    def read(folder: Path) -> Fault | None:
        """The fault that the process left, if it did."""
        try:
            fields = json.loads((folder / FAULT).read_text())
        except (OSError, ValueError):
            return None
        return Fault(Culprit(fields["culprit"]), fields["message"])
