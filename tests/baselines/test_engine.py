"""How many copies may be outstanding at each point."""

from __future__ import annotations

from named_problems import V, W, X, problem, reads, target

from hybridalloc.allocating import allocate
from hybridalloc.baselines.placed import Placed
from hybridalloc.baselines.plan import Plan
from hybridalloc.loops import Loops
from hybridalloc.stays import Lifetime
from hybridalloc.target import CopyEngine


def plan() -> Plan:
    """W and V are fetched at point 2, due at once; 3 prefetches may be outstanding."""
    machine = target(engine=CopyEngine(max_outstanding_prefetches=3))
    of = problem((W, V, X), (), (), (reads(0), reads(1)), (), machine=machine)
    made, loops = Plan(of, Loops(of.program)), Loops(of.program)
    for buffer in range(2):
        stay = Lifetime(of.program, loops, buffer).stay(0, 0, None)
        assert stay
        made.put(Placed(stay, (allocate(stay, 8 * buffer, (2, 3)),), value=0.0))
    return made


def test_a_slice_that_is_issued_where_it_is_due_counts_at_that_point() -> None:
    """At point 2 there are 2 already, so one of these slices may be issued there."""
    engine = plan().engine
    assert engine.may_fetch_slices([0, 2], 2)
    assert not engine.may_fetch_slices([0, 2, 2], 2)
    assert not engine.may_fetch_slices([2, 0, 2], 2)


def test_slices_count_only_from_their_own_issue_to_where_they_are_due() -> None:
    """At point 1 three are outstanding, at point 2 only what is issued there."""
    engine = plan().engine
    assert engine.may_fetch_slices([0, 1, 1], 2)
    assert not engine.may_fetch_slices([0, 1, 1, 1], 2)
    assert engine.may_fetch(2, 2)
    assert engine.may_fetch(0, 3)
    assert not engine.may_fetch_slices([0, 1], 3)
