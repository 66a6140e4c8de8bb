"""Local search of a whole map: compiled moves, evaluated where they change anything."""

from hybridalloc.cpsat_models.search.solver import Search, SearchConfig

__all__ = ["Search", "SearchConfig"]
