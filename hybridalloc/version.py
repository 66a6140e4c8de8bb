"""The version of this package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def package_version() -> str:
    """The version of this package, where it is installed."""
    try:
        return version("hybridalloc")
    except PackageNotFoundError:
        return "(not installed)"
