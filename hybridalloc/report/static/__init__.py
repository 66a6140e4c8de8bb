"""Answers to static problems, for people and for programs."""

from hybridalloc.report.static.records import StaticRecord, static_record
from hybridalloc.report.static.tables import (
    static_comparison,
    static_info,
    static_table,
)

__all__ = [
    "StaticRecord",
    "static_comparison",
    "static_info",
    "static_record",
    "static_table",
]
