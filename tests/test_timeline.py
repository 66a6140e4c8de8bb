"""The life of a buffer as nodes and segments, drawn by hand and at random."""

from __future__ import annotations

from hypothesis import given, settings
from named_problems import V, W, X, Y, problem, reads, updates, writes
from strategies import programs

from hybridalloc.loops import Loops
from hybridalloc.program import Buffer, Loop, Program
from hybridalloc.timeline import Kind, Reach, Segment, Timeline

# t            0       1       2       3       4       5       6       7       8       9
# outer                [---------------------------------------------[
# inner                        [---------------[
# x            write           read    update          read                    read
# y            write           read
# z                            write   read
OUTER, INNER = Loop(1, 7, trip_count=3), Loop(2, 4, trip_count=5)
PROGRAM = problem(
    (X, Y, Buffer("z", 8), V),
    (writes(0), writes(1)),
    (),
    (reads(0), reads(1), writes(2)),
    (updates(0), reads(2)),
    (),
    (reads(0),),
    (),
    (),
    (reads(0),),
    (),
    loops=(OUTER, INNER),
).program


def timeline(buffer: int, program: Program = PROGRAM) -> Timeline:
    return Timeline(program, Loops(program), buffer)


def test_nodes_are_accesses_and_the_gates_of_the_loops_around_them() -> None:
    assert [(node.kind, node.point) for node in timeline(0).nodes] == [
        (Kind.ACCESS, 0),
        (Kind.ENTRY, 1),
        (Kind.ENTRY, 2),
        (Kind.ACCESS, 2),
        (Kind.ACCESS, 3),
        (Kind.EXIT, 4),
        (Kind.ACCESS, 5),
        (Kind.EXIT, 7),
        (Kind.ACCESS, 8),
    ]
    assert timeline(0).gates(OUTER) == (1, 7)
    assert timeline(0).gates(INNER) == (2, 5)


def test_segments_lie_between_nodes_in_the_innermost_loop_around_them() -> None:
    assert timeline(0).segments == (
        Segment(0, 0, None),
        Segment(1, 1, None),
        Segment(1, 2, OUTER),
        Segment(2, 2, INNER),
        Segment(3, 3, INNER),
        Segment(4, 4, INNER),
        Segment(4, 5, OUTER),
        Segment(6, 7, OUTER),
        Segment(7, 8, None),
        Segment(9, 10, None),
    )


def test_a_buffer_without_accesses_has_one_segment() -> None:
    assert timeline(3).nodes == ()
    assert timeline(3).segments == (Segment(0, 10, None),)


def test_a_write_in_a_loop_reaches_what_comes_before_it_around_the_back_edges() -> None:
    # The read at 2 follows the update at 3 in the next iteration of the inner loop
    # (by its exit, segment 5), or of the outer one (by 5, 6, 7 and 2), or else the
    # write at 0.
    assert list(timeline(0).reaching(3)) == [
        Reach(4, (5, 3)),
        Reach(4, (5, 6, 7, 2, 3)),
        Reach(0, (1, 2, 3)),
    ]
    assert list(timeline(0).reaching(4)) == [
        Reach(4, (5, 3, 4)),
        Reach(4, (5, 6, 7, 2, 3, 4)),
        Reach(0, (1, 2, 3, 4)),
    ]


def test_a_write_before_it_in_its_loop_is_the_only_one_that_reaches_a_node() -> None:
    assert list(timeline(0).reaching(6)) == [Reach(4, (5, 6))]
    assert list(timeline(0).reaching(8)) == [Reach(4, (5, 6, 7, 8))]
    assert list(timeline(0).reaching(9)) == [Reach(4, (5, 6, 7, 8, 9))]


def test_what_is_there_before_the_program_reaches_the_first_node() -> None:
    assert list(timeline(0).reaching(0)) == [Reach(None, (0,))]
    w = problem((W,), (), (reads(0),), loops=(Loop(1, 2, trip_count=4),)).program
    assert list(timeline(0, w).reaching(1)) == [Reach(None, (0, 1))]


def test_copies_are_issued_after_the_last_write_in_their_body() -> None:
    # After the write at 0: at 1. Within the outer loop but before the inner one: at its
    # start, 1; within the inner one: at its start, 2, until the update at 3 and at 4
    # after that; outside of all loops only after the outer one, which has the write.
    points = [timeline(0).copies_from(k) for k in range(10)]
    assert points == [0, 1, 1, 2, 2, 4, 4, 4, 7, 7]


def test_an_eviction_is_of_use_after_a_write_and_in_bodies_that_write() -> None:
    assert [timeline(0).may_evict(k) for k in range(10)] == [False] + 9 * [True]
    # y is written before the loops, and only read in them.
    y = [timeline(1).may_evict(k) for k in range(7)]
    assert y == [False, True, False, False, False, False, True]


def test_content_is_live_across_a_back_edge_unless_it_is_overwritten_first() -> None:
    assert [timeline(b).live_across(OUTER) for b in range(3)] == [True, True, False]
    assert [timeline(b).live_across(INNER) for b in range(3)] == [True, True, False]


@given(programs())
@settings(max_examples=40)
def test_segments_and_accesses_tile_the_program(program: Program) -> None:
    for buffer in range(len(program.buffers)):
        line = timeline(buffer, program)
        spans = [(x.low, x.high) for x in line.segments]
        spans += [(x.point, x.point + 1) for x in line.nodes if x.kind is Kind.ACCESS]
        covered = sorted(t for low, high in spans for t in range(low, high))
        assert covered == list(range(len(program)))
        assert len(line.segments) == len(line.nodes) + 1


@given(programs())
@settings(max_examples=40)
def test_a_reach_is_a_way_from_a_write_to_a_node(program: Program) -> None:
    for buffer in range(len(program.buffers)):
        line = timeline(buffer, program)
        back = {k: j for j, k in map(line.gates, program_loops(line))}
        for index in range(len(line.nodes) + 1):
            for reach in line.reaching(index):
                first = 0 if reach.write is None else reach.write + 1
                assert reach.segments[0] == first
                assert reach.segments[-1] == index
                for here, there in zip(
                    reach.segments, reach.segments[1:], strict=False
                ):
                    assert there == here + 1 or there == back[here] + 1
                between = [line.nodes[k] for k in reach.segments[:-1]]
                assert not any(node.writes for node in between)
                assert reach.write is None or line.nodes[reach.write].writes


def program_loops(line: Timeline) -> list[Loop]:
    """The loops that access the buffer."""
    return [x.loop for x in line.nodes if x.loop and x.kind is Kind.ENTRY]
