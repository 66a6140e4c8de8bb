"""Whatever the problem and the options, the map is valid."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import problems

from hybridalloc.baselines.msa import Msa, MsaOptions
from hybridalloc.checker import check
from hybridalloc.oracle import execute
from hybridalloc.pins import pinned
from hybridalloc.problem import Problem
from hybridalloc.solver import Run


def options() -> st.SearchStrategy[MsaOptions]:
    """Those with which little keeps a copy from being made, and the usual ones."""
    return st.builds(
        MsaOptions,
        min_overlap_to_async_copy_ratio=st.sampled_from([0.0, 1.0]),
        preferred_overlap_to_async_copy_ratio=st.sampled_from([0.0, 2.0]),
        max_overlap_to_mem_size_async_copy_ratio=st.sampled_from([1.0, 8.0, 1e9]),
        prefetch_interval_picker_size_override=st.sampled_from([-1, 0, 1]),
        async_copy_bandwidth_scaling_factor=st.sampled_from([1.0, 1e6]),
        max_outstanding_prefetches=st.sampled_from([None, 1]),
        max_outstanding_evictions=st.sampled_from([None, 1]),
        while_use_extra_outstanding_prefetch_limit=st.sampled_from([0, 2]),
        enforce_prefetch_fifo_order=st.booleans(),
        max_retries=st.sampled_from([1, 2, 3]),
        inefficient_use_to_copy_ratio=st.sampled_from([0.0, 0.5, 5.0]),
        while_execution_count=st.sampled_from([1, 5]),
        enable_cross_program_prefetch_freeing=st.booleans(),
        max_cross_program_prefetches=st.sampled_from([1, 2]),
        sliced_prefetch_min_bytes=st.sampled_from([1, 2**20]),
    )


@settings(max_examples=200)
@given(problems(pinned=True), options())
def test_maps_are_valid_for_checker_and_oracle(of: Problem, chosen: MsaOptions) -> None:
    found = Msa(chosen).solve(of, Run()).map
    if found is None:
        assert pinned(of.program)
        return
    assert check(of, found) == ()
    assert execute(of, found) == ()
