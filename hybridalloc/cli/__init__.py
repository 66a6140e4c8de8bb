"""The command line, ``hybridalloc``."""

from hybridalloc.cli.run import main

__all__ = ["main"]
