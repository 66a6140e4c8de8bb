"""The entry point: what goes wrong becomes one line and an exit code."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Sequence

from typer.exceptions import TyperException
from typer.main import get_command

from hybridalloc.cli.app import app
from hybridalloc.cli.output import Exit, tell
from hybridalloc.errors import HybridAllocError, StrategyError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: What follows the program's name; the process's own if not given.

    Returns:
        The exit code.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _show_warning
        try:
            code = get_command(app).main(
                arguments, prog_name="hybridalloc", standalone_mode=False
            )
        except TyperException as error:
            # Typer checks values with pydantic, which puts these words before its own.
            message = error.format_message().replace("Value error, ", "")
            tell("error", f"{message} (try --help)")
            return Exit.BAD_INPUT
        except StrategyError as error:
            return _internal_error(error)
        except HybridAllocError as error:
            tell("error", str(error))
            return Exit.BAD_INPUT
        except Exception as error:
            return _internal_error(error)
    if code == Exit.INTERRUPTED:
        tell("error", "interrupted before there was an answer")
    return int(code or Exit.ANSWER)


def _internal_error(error: Exception) -> int:
    if os.environ.get("HYBRIDALLOC_DEBUG") == "1":
        traceback.print_exception(error)
    else:
        tell(
            "error",
            f"a defect in hybridalloc: {type(error).__name__}: {error}; please report "
            f"it with what HYBRIDALLOC_DEBUG=1 shows",
        )
    return Exit.DEFECT


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: str | None = None,
) -> None:
    """Show a warning as one line on stderr, without the code that raised it."""
    tell("warning", str(message))
