"""The constraints on where a buffer is, and on the validity of its slow copy.

One function for each rule of docs/model.md, and one for each link between literals.
"""

from __future__ import annotations

from hybridalloc.cpsat_models.mapping.variables import LifeVariables, Lit, Variables
from hybridalloc.timeline import Kind


def constrain_residency(variables: Variables) -> None:
    """All constraints of this module."""
    for life in variables.lives:
        variables.model.require_time()
        served_from_fast(variables, life)
        kept_at_entries(variables, life)
        kept_at_exits(variables, life)
        slow_copy(variables, life)
        stale_read(variables, life)
        loop_state(variables, life)
        output(variables, life)
        eviction(variables, life)
        no_write_after_eviction(variables, life)
        stale_prefetch(variables, life)
        cross_program(variables, life)
    few_cross_programs(variables)


def served_from_fast(variables: Variables, life: LifeVariables) -> None:
    """A node in fast memory is held up to there, prefetched for it, or written whole.

    Held through a segment is only what is in fast memory at both ends of it.
    """
    model, count = variables.model, len(life.fast)
    for k, node in enumerate(life.life.timeline.nodes):
        model.add_implication(life.held[k], life.fast[k])
        if k:
            model.add_implication(life.held[k], life.fast[k - 1])
        if node.whole:
            continue
        ways: list[Lit] = [life.held[k]]
        if k in life.fetches:
            ways.append(life.fetches[k].made)
        if k in life.restored:
            ways.append(life.restored[k])
        model.add(sum(ways) == life.fast[k])
    if count:
        model.add_implication(life.held[count], life.fast[count - 1])


def kept_at_entries(variables: Variables, life: LifeVariables) -> None:
    """At a loop's first instruction, what is held at the entry is there already."""
    model, segments = variables.model, life.life.timeline.segments
    for k, node in enumerate(life.life.timeline.nodes):
        empty = segments[k + 1].low == segments[k + 1].high
        if node.kind is Kind.ENTRY and empty:
            model.add_implication(life.fast[k], life.held[k + 1])


def kept_at_exits(variables: Variables, life: LifeVariables) -> None:
    """What is there at a loop's entry is there at its exit, and the other way round.

    Mostly they have one literal. Where loops end together, what is there at an inner
    exit alone ends at that point.
    """
    model, timeline = variables.model, life.life.timeline
    beyond: Lit = model.false
    for k in reversed(range(len(timeline.nodes))):
        node = timeline.nodes[k]
        if node.kind is not Kind.EXIT or node.loop is None:
            continue
        if not life.life.ends_with_another(k):
            beyond = _goes_on(variables, life, k)
            continue
        further = model.literal()
        model.add_bool_or(~beyond, ~life.held[k + 1], further)
        beyond = further
        if timeline.live_across(node.loop):
            entry = life.fast[timeline.gates(node.loop)[0]]
            model.add_implication(entry, life.fast[k])
            model.add_implication(beyond, entry)


def _goes_on(variables: Variables, life: LifeVariables, k: int) -> Lit:
    """Whether what is there at an exit is there for longer, be it to be evicted."""
    model, goes_on = variables.model, variables.model.literal()
    model.add_implication(life.held[k + 1], goes_on)
    eviction = life.evictions.get(k + 1)
    if eviction is not None:
        due = eviction.ready_by(life.life.timeline.nodes[k].point)
        done = () if due is None else (due,)
        model.add_bool_or(~eviction.made, *done, goes_on)
    return goes_on


def slow_copy(variables: Variables, life: LifeVariables) -> None:
    """Follow the validity of the slow copy: writes change it, and evictions."""
    model = variables.model
    valid: Lit = model.true if life.life.is_input else model.false
    for k in range(len(life.fast) + 1):
        if k in life.evictions:
            evicted = model.literal()
            model.add(evicted == valid + life.evictions[k].made)
            valid = evicted
        life.before.append(valid)
        if k < len(life.fast):
            if life.life.timeline.nodes[k].writes:
                valid = ~life.fast[k]
            life.after.append(valid)


def stale_read(variables: Variables, life: LifeVariables) -> None:
    """An access served from slow memory that is not whole needs a valid slow copy."""
    for k, node in enumerate(life.life.timeline.nodes):
        if node.kind is Kind.ACCESS and not node.whole:
            variables.model.add_bool_or(life.fast[k], life.before[k])


def loop_state(variables: Variables, life: LifeVariables) -> None:
    """At a back edge the slow copy of what is live is valid or not as at the entry.

    Where it is, is settled by ``kept_at_entries`` and ``kept_at_exits``.
    """
    timeline = life.life.timeline
    for k, node in enumerate(timeline.nodes):
        if node.kind is Kind.EXIT and node.loop and timeline.live_across(node.loop):
            entry = timeline.gates(node.loop)[0]
            variables.model.add(life.before[entry] == life.before[k])


def output(variables: Variables, life: LifeVariables) -> None:
    """The slow copy of an output is valid at the end of the run."""
    if life.life.is_output:
        variables.model.add_bool_or(life.before[-1])


def eviction(variables: Variables, life: LifeVariables) -> None:
    """An eviction copies back what was held all the time since it was written."""
    model, timeline = variables.model, life.life.timeline
    for k, copy in life.evictions.items():
        if k:
            model.add_implication(copy.made, life.fast[k - 1])
        index = k - 1
        body = copy.window.body
        entry = -1 if body is None else timeline.gates(body)[0]
        while index > entry and not timeline.nodes[index].writes:
            model.add_implication(copy.made, life.held[index])
            index -= 1


def no_write_after_eviction(variables: Variables, life: LifeVariables) -> None:
    """What is evicted and then still held is not written any more."""
    model = variables.model
    evicted: Lit | None = None
    for k, node in enumerate(life.life.timeline.nodes):
        now: Lit | None = None
        if evicted is not None or k in life.evictions:
            now = model.literal()
            if evicted is not None:
                model.add_bool_or(~evicted, ~life.held[k], now)
            if k in life.evictions:
                model.add_bool_or(~life.evictions[k].made, ~life.held[k], now)
        if node.writes and now is not None:
            model.add_bool_or(~now)
            now = None
        evicted = now


def stale_prefetch(variables: Variables, life: LifeVariables) -> None:
    """A prefetch needs a valid slow copy at its issue.

    Between its first issue point and its end there is no write, so what is valid
    stays so. An eviction due at the point counts if it is not issued there as well.
    """
    model = variables.model
    for copy in life.fetches.values():
        for point, issued in zip(copy.window.issues, copy.issued, strict=True):
            segment = _segment_of(life, copy.window.segment, point)
            valid = life.after[segment - 1] if segment else life.before[0]
            eviction = life.evictions.get(segment)
            due = eviction.ready_by(point) if eviction else None
            begun = eviction.issued_by(point - 1) if eviction else None
            if due is None or begun is None:
                model.add_implication(issued, valid)
            else:
                model.add_bool_or(~issued, valid, due)
                model.add_bool_or(~issued, valid, begun)


def _segment_of(life: LifeVariables, segment: int, point: int) -> int:
    """The segment of the same body that a point lies in, up to the one given."""
    segments = life.life.timeline.segments
    body = segments[segment].body
    while segments[segment].body != body or segments[segment].low > point:
        segment -= 1
    return segment


def cross_program(variables: Variables, life: LifeVariables) -> None:
    """It is held for the whole run; or for its head, and copied again in the tail.

    The place is free at the earliest when the head has served its last access.
    """
    if not life.life.crosses:
        return
    model, nodes = variables.model, life.life.timeline.nodes
    whole, tails = life.held[-1], [copy.made for copy in life.tails]
    model.add(sum([whole, *tails]) == life.crosses)
    for k in range(len(nodes)):
        model.add_implication(whole, life.held[k])
    for k, restored in life.restored.items():
        loop = nodes[k].loop
        assert loop is not None
        model.add_bool_or(
            ~restored,
            *(
                x.made
                for x in life.tails
                if x.window.body and loop.encloses(x.window.body)
            ),
        )
    head = life.crosses
    for k in range(len(nodes)):
        if k:
            longer = model.literal()
            model.add_bool_or(~head, ~life.held[k], longer)
            head = longer
        end = life.life.end_after(k, variables.loops)
        for copy in life.tails:
            if (issued := copy.issued_by(end - 1)) is not None:
                model.add_implication(head, ~issued)


def few_cross_programs(variables: Variables) -> None:
    """No more cross-program prefetches than the target allows."""
    chosen = [life.crosses for life in variables.lives if life.life.crosses]
    most = variables.problem.target.cross_program_prefetches
    if len(chosen) > most:
        variables.model.add(sum(chosen) <= most)
