"""What goes wrong in a command becomes one line and an exit code."""

from __future__ import annotations

import errno
import os
import traceback
import warnings
from collections.abc import Sequence

from typer.exceptions import TyperException
from typer.main import get_command

from hybridalloc.cli.app import app
from hybridalloc.cli.endings import Exit, interrupted, tell
from hybridalloc.cli.output import OutputError, flush, unwritable
from hybridalloc.errors import HybridAllocError, StrategyError
from hybridalloc.interruption import is_interrupt

_WRITING_FAILED = (errno.ENOSPC, errno.EBADF, errno.EIO)


def run(arguments: Sequence[str] | None) -> int:
    """Run one command.

    Args:
        arguments: What follows the program's name; the process's own if not given.

    Returns:
        The exit code.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            code = _run(arguments)
        except TyperException as error:
            # Typer checks values with pydantic, which puts these words before its own.
            message = error.format_message().replace("Value error, ", "")
            return _failed(Exit.BAD_INPUT, f"{message} (try --help)")
        except StrategyError as error:
            return _internal_error(error)
        except HybridAllocError as error:
            return _failed(Exit.BAD_INPUT, str(error))
        except OutputError as error:
            return _failed(Exit.OUTPUT, str(error))
        except Exception as error:
            if is_interrupt(error):
                return interrupted()
            return _internal_error(error)
    if code == Exit.INTERRUPTED:
        return interrupted()
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            tell("warning", str(warning.message))
    return code


def _run(arguments: Sequence[str] | None) -> int:
    command = get_command(app)
    try:
        code = command.main(arguments, prog_name="hybridalloc", standalone_mode=False)
    except SystemExit:  # so Typer ends when the reader of its help has gone
        code = Exit.ANSWER
    except OSError as error:
        # Typer's help, which stdout did not take: nothing else writes unguarded.
        if error.filename is None and error.errno in _WRITING_FAILED:
            raise unwritable(error) from error
        raise
    flush()
    return int(code or Exit.ANSWER)


def _failed(code: Exit, message: str) -> int:
    tell("error", message)
    return code


def _internal_error(error: Exception) -> int:
    where = f"hybridalloc: {type(error).__name__}"
    if isinstance(error, StrategyError):  # perhaps another package's
        where = "a strategy"
    if os.environ.get("HYBRIDALLOC_DEBUG") == "1":
        traceback.print_exception(error)
    else:
        tell(
            "error",
            f"a defect in {where}: {error}; please report it with what "
            f"HYBRIDALLOC_DEBUG=1 shows",
        )
    return Exit.DEFECT
