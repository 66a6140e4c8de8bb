"""Which placements are tried."""

from __future__ import annotations

from named_problems import X, problem, reads, writes

from hybridalloc.loops import Loops
from hybridalloc.memory_map import MemoryMap
from hybridalloc.program import Loop
from hybridalloc.simulator import Simulator
from hybridalloc.understanding.drafts import Drafts, Stretch
from hybridalloc.understanding.setting import Setting


def test_copies_wait_for_a_write_in_a_loop_before_until_that_loop_ends() -> None:
    """The write is at 1, within loops until 2 and 3; the read at 5, in a loop from 4.

    In that loop a copy begins at 4 or 5. For the whole of it, one is due at 4, and
    begins at 3 or 4: never within the loops of the write.
    """
    loops = (Loop(0, 3, 2), Loop(0, 2, 2), Loop(4, 6, 3))
    case = problem((X,), (), (writes(0),), (), (), (), (reads(0),), loops=loops)
    simulator = Simulator(case)
    setting = Setting(simulator, Loops(case.program), MemoryMap())
    tried = [x.allocation for x in Drafts(setting, Stretch(0, 1, 1)).all()]
    assert {(x.start, x.ready) for x in tried if x.ready == 5} == {(4, 5), (5, 5)}
    assert {(x.start, x.ready) for x in tried if x.ready == 4} == {(3, 4), (4, 4)}
    assert {x.ready for x in tried} == {4, 5}
