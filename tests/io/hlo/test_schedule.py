"""The flattened schedule: what stands where, and which ranges repeat."""

from __future__ import annotations

import pytest
from hlo_texts import ADD, flat, parsed

from hybridalloc.io.hlo import schedule as schedule_module
from hybridalloc.io.hlo.parser import HloSyntaxError
from hybridalloc.io.hlo.schedule import Schedule, flatten
from hybridalloc.program import Loop


def names(schedule: Schedule) -> str:
    return " ".join(step.instruction.name for step in schedule.steps)


def loop_computations(suffix: str = "", inner: str = "", shape: str = "f32[8]") -> str:
    """A condition that tells nothing, and a body that runs ``inner``."""
    return f"""
cond{suffix} {{
  cp{suffix} = {shape} parameter(0)
  ROOT ct{suffix} = pred[] custom-call(cp{suffix}), custom_call_target="t"
}}
body{suffix} {{
  bp{suffix} = {shape} parameter(0)
{inner}
  ROOT br{suffix} = {shape} negate(bp{suffix})
}}
"""


def test_condition_and_body_stand_before_their_while() -> None:
    schedule = flat(
        "x = f32[8] parameter(0)\nw = f32[8] while(x), condition=cond, body=body\n"
        "y = f32[8] negate(w)",
        loop_computations(),
    )
    assert names(schedule) == "x cp ct bp br w y"
    # The range is condition and body; nothing is known of its trips, so XLA's 5.
    assert schedule.loops == (Loop(1, 5, 5),)


def test_the_order_of_the_attributes_does_not_matter() -> None:
    schedule = flat(
        "x = f32[8] parameter(0)\nw = f32[8] while(x), body=body, condition=cond",
        loop_computations(),
    )
    assert names(schedule) == "x cp ct bp br w"


def test_loops_nest_and_come_by_start_outer_ones_first() -> None:
    called = loop_computations(".i") + loop_computations(
        ".o", "w.i = f32[8] while(bp.o), condition=cond.i, body=body.i"
    )
    schedule = flat(
        "x = f32[8] parameter(0)\nw = f32[8] while(x), condition=cond.o, body=body.o",
        called,
    )
    assert names(schedule) == "x cp.o ct.o bp.o cp.i ct.i bp.i br.i w.i br.o w"
    assert schedule.loops == (Loop(1, 10, 5), Loop(4, 8, 5))


def test_a_loop_in_a_condition_nests_in_its_range() -> None:
    outer = """
cond.o {
  cp.o = f32[8] parameter(0)
  w.i = f32[8] while(cp.o), condition=cond.i, body=body.i
  ROOT ct.o = pred[] custom-call(w.i), custom_call_target="t"
}
body.o {
  ROOT bp.o = f32[8] parameter(0)
}
"""
    schedule = flat(
        "x = f32[8] parameter(0)\nw = f32[8] while(x), condition=cond.o, body=body.o",
        loop_computations(".i") + outer,
    )
    assert names(schedule) == "x cp.o cp.i ct.i bp.i br.i w.i ct.o bp.o w"
    assert schedule.loops == (Loop(1, 9, 5), Loop(2, 6, 5))


BRANCHES = """
left {
  lp = f32[8] parameter(0)
  ROOT lr = f32[8] negate(lp)
}
right {
  ROOT rp = f32[8] parameter(0)
}
"""


@pytest.mark.parametrize(
    "attributes",
    [
        "branch_computations={left, right}",
        "true_computation=left, false_computation=right",
    ],
)
def test_every_branch_of_a_conditional_stands_before_it_once(attributes: str) -> None:
    schedule = flat(
        "p = pred[] parameter(0)\nx = f32[8] parameter(1)\n"
        f"c = f32[8] conditional(p, x, x), {attributes}",
        BRANCHES,
    )
    assert names(schedule) == "p x lp lr rp c"
    assert schedule.loops == ()


def test_a_computation_stands_before_each_call_of_it() -> None:
    schedule = flat(
        "x = f32[8] parameter(0)\na = f32[8] call(x), to_apply=left\n"
        "b = f32[8] call(a), to_apply=left",
        BRANCHES,
    )
    assert names(schedule) == "x lp lr a lp lr b"
    first, second = schedule.steps[3].called[0], schedule.steps[6].called[0]
    assert sorted(first.time.values()) == [1, 2]
    assert sorted(second.time.values()) == [4, 5]


@pytest.mark.parametrize(
    "start", ["async-start(x), calls=left", "call-start(x), to_apply=left"]
)
def test_an_asynchronous_computation_runs_beside_the_schedule(start: str) -> None:
    schedule = flat(
        f"x = f32[8] parameter(0)\ns = ((f32[8]), f32[8], u32[]) {start}\n"
        "d = f32[8] async-done(s), calls=left",
        BRANCHES,
    )
    assert names(schedule) == "x lp lr s d"
    beside = [step.instruction.name for step in schedule.steps if step.asynchronous]
    assert beside == ["lp", "lr"]


def test_what_an_asynchronous_computation_calls_runs_beside_the_schedule_too() -> None:
    outer = "outer {\n  p = f32[8] parameter(0)\n  c = f32[8] call(p), to_apply=left\n}"
    schedule = flat(
        "x = f32[8] parameter(0)\n"
        "s = ((f32[8]), f32[8], u32[]) async-start(x), calls=outer",
        BRANCHES + outer,
    )
    beside = [step.instruction.name for step in schedule.steps if step.asynchronous]
    assert beside == ["p", "lp", "lr", "c"]


@pytest.mark.parametrize(
    "line",
    [
        "y = f32[8] fusion(x), kind=kLoop, calls=left",
        "y = f32[] all-reduce(x), to_apply=add",
        'y = f32[8] custom-call(x), custom_call_target="f", called_computations={left}',
        "y = ((f32[8]), f32[8], u32[]) fusion-start(x), kind=kLoop, calls=left",
        "y = ((f32[8]), f32[2], u32[]) slice-start(x), slice={[0:2]}",
    ],
)
def test_what_runs_inside_an_instruction_is_not_part_of_the_schedule(line: str) -> None:
    schedule = flat(f"x = f32[8] parameter(0)\n{line}", BRANCHES + ADD)
    assert names(schedule) == "x y"


def test_a_step_knows_its_operands_and_whether_it_is_a_root() -> None:
    schedule = flat(
        "x = f32[8] parameter(0)\na = f32[8] call(x), to_apply=left\n"
        "b = f32[8] add(a, x)",
        BRANCHES,
    )
    assert names(schedule) == "x lp lr a b"
    assert list(schedule.steps[4].operand_times) == [3, 0]
    assert [step.is_root for step in schedule.steps] == [
        False,
        False,
        True,
        False,
        True,
    ]


def test_a_schedule_that_grows_beyond_all_bounds_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Each level calls the one below twice: 2**9 = 512 times the lowest.
    levels = ["l0 {\n  p0 = f32[8] parameter(0)\n}"]
    for n in range(1, 10):
        below = f"f32[8] call(p{n}), to_apply=l{n - 1}"
        levels.append(
            f"l{n} {{\n  p{n} = f32[8] parameter(0)\n  a{n} = {below}\n"
            f"  b{n} = {below}\n}}"
        )
    entry = "x = f32[8] parameter(0)\ny = f32[8] call(x), to_apply=l9"
    module = parsed(entry, "\n".join(levels))
    # 1 parameter and 2 calls in each computation but the lowest: 2**9 + 3 * (2**9 - 1)
    # steps in l9, and 2 in the entry.
    assert len(flatten(module).steps) == 512 + 3 * 511 + 2
    monkeypatch.setattr(schedule_module, "MAX_STEPS", 1000)
    with pytest.raises(HloSyntaxError, match="the schedule exceeds 1000 instructions"):
        flatten(module)
