"""The command line, ``hybridalloc``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: What follows the program's name; the process's own if not given.

    Returns:
        The exit code.
    """
    try:
        from hybridalloc.cli.run import run  # takes so long that Ctrl-C may meet it

        return run(arguments)
    except KeyboardInterrupt:
        from hybridalloc.cli.endings import interrupted

        return interrupted()
