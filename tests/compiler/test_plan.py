"""Plans say a map in the compiler's names, and flags say a plan in its options."""

from __future__ import annotations

import re
from dataclasses import replace

from hlo_texts import read

from hybridalloc.compiler.flags import PREFETCHES, SORT_ORDER, settings_of
from hybridalloc.compiler.plan import Fetch, Placement, Plan, Position, plan_of
from hybridalloc.expressible import project
from hybridalloc.io.hlo.reader import HloProgram
from hybridalloc.io.target_file import get_target
from hybridalloc.memory_map import Allocation, MemoryMap, Origin
from hybridalloc.problem import Problem

CHAIN = read(
    """
    x = f32[1024] parameter(0)
    w.1 = f32[1024] parameter(1)
    first = f32[1024] add(x, x)
    second = (f32[1024], f32[1024]) fusion(first), kind=kLoop, calls=two
    left = f32[1024] get-tuple-element(second), index=0
    right = f32[1024] get-tuple-element(second), index=1
    ROOT out = f32[1024] fusion(right, left, w.1), kind=kLoop, calls=three
    """,
    """
two {
  a = f32[1024] parameter(0)
  b = f32[1024] negate(a)
  ROOT both = (f32[1024], f32[1024]) tuple(b, b)
}

three {
  c = f32[1024] parameter(0)
  d = f32[1024] parameter(1)
  e = f32[1024] parameter(2)
  f = f32[1024] add(c, d)
  ROOT g = f32[1024] add(f, e)
}
""",
)


def planned(hlo: HloProgram, *allocations: Allocation) -> Plan:
    buffers = tuple(replace(x, cross_program=True) for x in hlo.program.buffers)
    program = replace(hlo.program, buffers=buffers)
    problem = Problem(program, get_target("tpu-v4i")).restricted()
    return plan_of(hlo, problem, project(problem, MemoryMap(allocations)))


def stay(hlo: HloProgram, buffer: str, start: int, ready: int, end: int) -> Allocation:
    index = [x.name for x in hlo.program.buffers].index(buffer)
    origin = Origin.PRODUCED if start == ready else Origin.PREFETCHED
    return Allocation(index, 0, start, end, origin, ready)


def test_a_produced_buffer_is_known_by_where_it_is_defined() -> None:
    plan = planned(CHAIN, stay(CHAIN, "second{1}", 3, 3, 7))
    assert plan.placements == (Placement("second{1}", (Position("second", (1,)),), ()),)


def test_a_prefetch_is_for_an_operand_of_the_first_use() -> None:
    plan = planned(CHAIN, stay(CHAIN, "w.1", 3, 6, 7))
    fetch = Fetch("out", 2, (), after="first")
    assert plan.placements == (Placement("w.1", (Position("w.1"),), (fetch,)),)


def test_what_is_held_across_programs_is_said_apart() -> None:
    index = [x.name for x in CHAIN.program.buffers].index("w.1")
    held = Allocation(index, 0, 0, 7, Origin.CROSS_PROGRAM)
    plan = planned(CHAIN, held, stay(CHAIN, "first", 2, 2, 4))
    assert plan.cross_program == Placement("w.1", (Position("w.1"),))
    assert [x.buffer for x in plan.placements] == ["first"]


LOOP = read(
    """
    zero = s32[] constant(0)
    x = f32[1024] parameter(0)
    w = f32[1024] parameter(1)
    y = f32[1024] negate(x)
    start = (s32[], f32[1024], f32[1024]) tuple(zero, y, w)
    loop = (s32[], f32[1024], f32[1024]) while(start), condition=goes, body=body
    ROOT out = f32[1024] get-tuple-element(loop), index=1
    """,
    """
goes {
  p = (s32[], f32[1024], f32[1024]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(4)
  ROOT lt = pred[] compare(i, n), direction=LT
}

body {
  q = (s32[], f32[1024], f32[1024]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  one = s32[] constant(1)
  k = s32[] add(j, one)
  a = f32[1024] get-tuple-element(q), index=1
  b = f32[1024] get-tuple-element(q), index=2
  c = f32[1024] add(a, b)
  ROOT r = (s32[], f32[1024], f32[1024]) tuple(k, c, b)
}
""",
)


def test_what_a_loop_needs_is_fetched_for_the_while_instruction() -> None:
    names = [x.name for x in LOOP.program.instructions]
    start, end = names.index("p"), names.index("loop")
    plan = planned(LOOP, stay(LOOP, "w", start - 1, start, end))
    [placement] = plan.placements
    assert placement.fetches == (Fetch("loop", 0, (2,), after="w"),)


def test_settings_hold_no_blank_and_name_what_is_planned() -> None:
    plan = Plan(
        (
            Placement("a.1", (Position("a.1"),), (Fetch("use", 2, (1,), "be.fore"),)),
            Placement("b", (Position("b", (0, 3)), Position("c"))),
        ),
        Placement("w", (Position("w"),)),
    )
    settings = settings_of(plan)
    assert settings.fuel == 2
    assert not any(re.search(r"\s", x) for x in settings.options.values())
    assert settings.options["xla_max_cross_program_prefetches"] == "1"
    assert settings.options[PREFETCHES] == (
        'overrides{hlo_operand_filter{instruction_name_regex:"use",operand_number:2,'
        "tuple_index{index:1}},override_options{after_instruction{"
        'instruction_name_regex:"be[.]fore"}}}'
    )
    assert settings.options[SORT_ORDER] == (
        'overrides{hlo_position_matcher{instruction_name_regex:"w"},override_options{'
        "assign_first:true},apply_to_cross_program_prefetches:true}"
        'overrides{hlo_position_matcher{instruction_name_regex:"a[.]1"},'
        "override_options{assign_value:-2}}"
        'overrides{hlo_position_matcher{instruction_name_regex:"b",tuple_index{'
        "index:0,index:3}},override_options{assign_value:-1}}"
        'overrides{hlo_position_matcher{instruction_name_regex:"c"},'
        "override_options{assign_value:-1}}"
    )


def test_an_empty_plan_leaves_everything_in_slow_memory() -> None:
    settings = settings_of(Plan(()))
    assert settings.fuel == 0
    assert SORT_ORDER not in settings.options
    assert settings.options["xla_max_cross_program_prefetches"] == "0"
