"""Differences; slow memory moves a byte a second, fast memory four."""

from __future__ import annotations

from dataclasses import replace

import pytest
from named_problems import NAMED, W, X, observed, problem, reads, writes

from hybridalloc import solve
from hybridalloc.checker import check
from hybridalloc.errors import UsageError
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.problem import CostModel
from hybridalloc.understanding import diff
from hybridalloc.understanding.difference import Change

WEIGHT = NAMED["a weight behind a long computation"]
"""8 s, a computation of 20 s, and 24 s: w, x and out move 8 bytes each."""
PREFETCH = Allocation(0, 0, 1, 3, Origin.PREFETCHED, ready=2)
NO_MAP, ONE = MemoryMap(), MemoryMap((PREFETCH,))


def test_a_prefetch_more_is_a_buffer_and_an_instruction_less_time() -> None:
    found = diff(WEIGHT, NO_MAP, ONE)
    assert (found.times[0].a_s, found.times[0].b_s) == (52.0, 46.0)
    change = found.buffers[0]
    assert (change.name, change.change, change.effect_s) == ("w", Change.ONLY_B, -6.0)
    assert (change.to_fast, change.to_slow) == (1, 0)
    step = found.instructions[0]
    assert (step.instruction, step.change_s, step.to_fast) == (2, -6.0, ("w",))
    assert (found.b.peak_bytes, found.b.moved_bytes, found.b.prefetches) == (8, 8, 1)


def test_accesses_of_one_instruction_share_what_they_save_together() -> None:
    """Both reads take 16 s, or 10 s with either in fast memory: it computes so long.

    The first to go there saves 6 s, the second nothing: 3 s each, over both orders.
    """
    both = problem(
        (W, X), (writes(1),), (), (reads(0), reads(1)), compute={1: 20.0, 2: 10.0}
    )
    placed = MemoryMap((PREFETCH, Allocation(1, 8, 0, 3)))
    effects = {x.name: x.effect_s for x in diff(both, NO_MAP, placed).buffers}
    assert effects == {"w": -3.0, "x": -3.0 - 6.0}  # and x's write


def test_what_is_held_alike_is_bytes_times_seconds_of_all_slow() -> None:
    """8 bytes during 20 + 24 s, of which a map that starts later holds 24 s."""
    late = MemoryMap((Allocation(0, 8, 2, 3, Origin.PREFETCHED, ready=2),))
    found = diff(WEIGHT, ONE, late)
    assert (found.a.byte_seconds, found.b.byte_seconds) == (352.0, 192.0)
    assert found.overlap.byte_seconds == 192.0
    assert (found.overlap.share_of_a, found.overlap.share_of_b) == (192 / 352, 1.0)
    assert found.overlap.jaccard == 192 / 352
    assert (found.overlap.prefetches, found.overlap.prefetches_close) == (1, 1)
    assert (found.buffers[0].change, found.buffers[0].effect_s) == (Change.TIME, 0.0)


def test_prefetches_more_than_two_instructions_apart_do_not_agree() -> None:
    far = problem((W,), (), (), (), (), (reads(0),), compute={t: 9.0 for t in range(4)})
    early, late = (
        MemoryMap((Allocation(0, 0, start, 5, Origin.PREFETCHED, ready=4),))
        for start in (0, 3)
    )
    overlap = diff(far, early, late).overlap
    assert (overlap.prefetches, overlap.prefetches_close) == (1, 0)


def test_another_offset_is_a_change_without_effect() -> None:
    moved = MemoryMap((replace(PREFETCH, offset=8),))
    found = diff(WEIGHT, ONE, moved)
    assert [x.change for x in found.buffers] == [Change.OFFSET]
    assert (found.overlap.jaccard, found.instructions) == (1.0, ())


def test_a_map_does_not_differ_from_itself() -> None:
    found = diff(WEIGHT, ONE, ONE)
    assert (found.buffers, found.instructions, found.unchanged) == ((), (), 1)
    assert found.times[0].change_s == 0


def test_both_cost_models_are_told_where_there_are_two() -> None:
    models = [x.cost_model for x in diff(observed(WEIGHT), NO_MAP, ONE).times]
    assert models == ["cycles", "roofline"]
    assert [x.cost_model for x in diff(WEIGHT, NO_MAP, ONE).times] == ["roofline"]


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("estimated", [False, True])
def test_effects_and_stalls_sum_up_to_the_difference_in_time(
    name: str, estimated: bool
) -> None:
    case = observed(NAMED[name]) if estimated else NAMED[name]
    placed = solve(case, "greedy", iterations=1).map
    if placed is None or check(case, NO_MAP):
        pytest.skip("there is one map only")
    found = diff(case, NO_MAP, placed)
    timing = found.times[0]
    effects = sum(x.effect_s for x in found.buffers)
    assert effects + timing.stall_change_s == pytest.approx(timing.change_s)
    assert found.running_change_s == pytest.approx(effects)
    back = diff(case, placed, NO_MAP)
    assert {x.buffer: -x.effect_s for x in back.buffers} == pytest.approx(
        {x.buffer: x.effect_s for x in found.buffers}
    )


def test_an_invalid_map_is_refused_by_its_place() -> None:
    stale = MemoryMap((Allocation(2, 0, 2, 3),))
    with pytest.raises(UsageError, match="the second map is not valid: output: "):
        diff(WEIGHT, ONE, stale)


def test_times_under_the_learned_model_are_told_where_it_is_the_problems_own() -> None:
    assert [x.cost_model for x in diff(WEIGHT, NO_MAP, ONE).times] == ["roofline"]
    learned = replace(WEIGHT, cost_model=CostModel.LEARNED)
    found = [x.cost_model for x in diff(learned, NO_MAP, ONE).times]
    assert found == ["learned", "roofline"]
