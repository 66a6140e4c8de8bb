"""Flags: a plan as the options of XLA's TPU compiler that make it carry the plan out.

Three things are said: which buffers are placed, and in which order (sort order
overrides); after which instruction each is fetched (preferred prefetch overrides); and
that no others are placed (the compiler's fuel). Whatever else would move or refuse what
is planned is switched off: slices, limits on copies, least overlaps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hybridalloc.compiler.compilation import Settings
from hybridalloc.compiler.plan import Fetch, Placement, Plan, Position
from hybridalloc.io.hlo.shape import ShapeIndex

SORT_ORDER = "xla_tpu_msa_sort_order_overrides"
PREFETCHES = "xla_tpu_preferred_prefetch_overrides"

_NEUTRAL = {
    # Copies take next to no time, so that none is refused for lack of it...
    "xla_tpu_async_copy_bandwidth_scaling_factor": "1000",
    # ...and may be issued at any time, however far from their use.
    "xla_tpu_cmem_max_overlap_to_mem_size_async_copy_ratio": "1000000",
    "xla_tpu_cmem_max_outstanding_prefetches": "1000",
    "xla_tpu_cmem_max_outstanding_evictions": "1000",
    "xla_tpu_cmem_max_repacks": "100",
    "xla_tpu_msa_inefficient_use_to_copy_ratio": "0",
    "xla_tpu_sliced_prefetch_max_slices": "0",
    "xla_tpu_enable_cross_program_prefetch_freeing": "false",
    # The program's own copies and slices stay what they are.
    "xla_msa_enable_sync_copy_replacement": "false",
    "xla_msa_enable_sync_slice_replacement": "false",
}
"""What keeps XLA from improving on a plan."""


def settings_of(plan: Plan) -> Settings:
    """The settings under which XLA carries out a plan.

    Text values hold no blanks, so that ``LIBTPU_INIT_ARGS`` can hold them.
    """
    across = 0 if plan.cross_program is None else 1
    options = {**_NEUTRAL, "xla_max_cross_program_prefetches": str(across)}
    if order := "".join(_sort_order(plan)):
        options[SORT_ORDER] = order
    if fetches := "".join(_fetches(plan.placements)):
        options[PREFETCHES] = fetches
    return Settings(options, fuel=len(plan.placements))


def _sort_order(plan: Plan) -> Iterator[str]:
    if plan.cross_program is not None:
        for position in plan.cross_program.positions:
            how = "override_options{assign_first:true}"
            how += ",apply_to_cross_program_prefetches:true"
            yield f"overrides{{{_position(position)},{how}}}"
    for rank, placement in enumerate(plan.placements, -len(plan.placements)):
        for position in placement.positions:
            how = f"override_options{{assign_value:{rank}}}"
            yield f"overrides{{{_position(position)},{how}}}"


def _fetches(placements: Sequence[Placement]) -> Iterator[str]:
    for placement in placements:
        for fetch in placement.fetches:
            after = f"after_instruction{{{_name(fetch.after)}}}"
            yield f"overrides{{{_operand(fetch)},override_options{{{after}}}}}"


def _position(position: Position) -> str:
    index = _index(position.index)
    return f"hlo_position_matcher{{{_name(position.instruction)}{index}}}"


def _operand(fetch: Fetch) -> str:
    number = f"operand_number:{fetch.operand}{_index(fetch.index)}"
    return f"hlo_operand_filter{{{_name(fetch.use)},{number}}}"


def _index(index: ShapeIndex) -> str:
    parts = ",".join(f"index:{i}" for i in index)
    return f",tuple_index{{{parts}}}" if parts else ""


def _name(instruction: str) -> str:
    """A regular expression of RE2 for this name alone, without any backslash."""
    pattern = re.sub(r"[^\w-]", lambda match: f"[{match.group()}]", instruction)
    return f'instruction_name_regex:"{pattern}"'
