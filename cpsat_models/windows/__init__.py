"""Windows of a map, each a small problem that is solved exactly."""

from hybridalloc.cpsat_models.windows.options import WindowsConfig
from hybridalloc.cpsat_models.windows.solver import Windows

__all__ = ["Windows", "WindowsConfig"]
