"""The parts of a static problem that do not meet in time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hybridalloc.static.problem import StaticBuffer


def parts_of(buffers: Sequence[StaticBuffer]) -> Iterator[list[StaticBuffer]]:
    """The buffers that take space, cut where nothing is live.

    >>> a, b = StaticBuffer("a", 4, 0, 3), StaticBuffer("b", 2, 3, 5)
    >>> [[x.name for x in part] for part in parts_of([a, b])]
    [['a'], ['b']]
    """
    part: list[StaticBuffer] = []
    end = 0
    for buffer in sorted(
        (x for x in buffers if x.rectangles), key=lambda x: (x.start, x.end)
    ):
        if part and buffer.start >= end:
            yield part
            part = []
        end = max(end, buffer.end) if part else buffer.end
        part.append(buffer)
    if part:
        yield part
