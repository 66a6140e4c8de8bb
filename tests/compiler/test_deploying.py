"""Deployments: settings of a map, and what the compiler has made of them."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from hybridalloc.compiler.compilation import Settings
from hybridalloc.compiler.deploying import deploy, write_deployment
from hybridalloc.compiler.verifying import Span, verify_plan
from hybridalloc.errors import CompilerError, InputError
from hybridalloc.io.read import Input, read_input
from hybridalloc.memory_map import MemoryMap, Origin
from hybridalloc.problem import Problem


@pytest.fixture(scope="module")
def mixer(bundled: Path) -> Input:
    return read_input(bundled / "mixer_block_b128")


@pytest.fixture(scope="module")
def own(mixer: Input) -> MemoryMap:
    assert mixer.problem.compiler_map is not None
    return mixer.problem.compiler_map


def test_what_cannot_be_said_is_left_out_and_named(
    mixer: Input, own: MemoryMap
) -> None:
    deployment = deploy(mixer, own)
    names = {mixer.problem.program.buffers[x.buffer].name for x in own.allocations}
    assert set(deployment.left_out) <= names
    again = deploy(mixer, deployment.map)
    assert (again.left_out, again.settings) == ((), deployment.settings)
    assert deployment.settings.fuel == sum(
        x.origin is not Origin.CROSS_PROGRAM for x in deployment.map.allocations
    )


def test_json_and_shell_say_the_same(
    mixer: Input, own: MemoryMap, tmp_path: Path
) -> None:
    deployment = deploy(mixer, own)
    for name in ("plan.json", "plan.sh"):
        write_deployment(deployment, tmp_path / name)
    found = json.loads((tmp_path / "plan.json").read_text())
    lines = (tmp_path / "plan.sh").read_text().splitlines()
    variables = dict(shlex.split(line)[1].split("=", 1) for line in lines)
    flags = dict(x[2:].split("=", 1) for x in variables["LIBTPU_INIT_ARGS"].split(" "))
    assert flags == found["compiler_options"]
    assert variables["XLA_FLAGS"] == found["environment"]["XLA_FLAGS"]


def test_variables_that_are_too_long_are_refused(
    mixer: Input, own: MemoryMap, tmp_path: Path
) -> None:
    deployment = deploy(mixer, own)
    long = replace(deployment, settings=Settings({"xla_some": "x" * 2**17}, fuel=0))
    with pytest.raises(InputError, match="Linux allows 131,072"):
        write_deployment(long, tmp_path / "plan.sh")
    write_deployment(long, tmp_path / "plan.json")


def test_without_hlo_nothing_can_be_said(mixer: Input, own: MemoryMap) -> None:
    with pytest.raises(InputError, match="expected a workload folder or HLO text"):
        deploy(Input(mixer.problem), own)


def recompiled(problem: Problem, realised: MemoryMap | None) -> Problem:
    return replace(problem, compiler_map=realised)


def test_a_plan_carried_out_is_exact_whatever_its_offsets(
    mixer: Input, own: MemoryMap
) -> None:
    deployment = deploy(mixer, own)
    moved = MemoryMap(
        tuple(
            replace(x, offset=(x.offset or 0) + 2**30)
            for x in deployment.map.allocations
        )
    )
    found = verify_plan(
        deployment.problem, deployment.map, recompiled(deployment.problem, moved)
    )
    assert found.exact == found.allocations == len(deployment.map)
    assert (found.exact_share, found.bytes_share, found.differences) == (1, 1, ())
    assert found.planned_s == found.realised_s == deployment.planned_s
    assert found.default_s == deployment.default_s


def test_every_difference_has_its_reason(mixer: Input, own: MemoryMap) -> None:
    deployment = deploy(mixer, own)
    whole = deployment.map.allocations
    produced = [x for x in whole if x.origin is Origin.PRODUCED and x.end - x.start > 2]
    fetched = [x for x in whole if x.origin is Origin.PREFETCHED and x.ready > x.start]
    shorter = replace(produced[0], end=produced[0].end - 1)
    later = replace(fetched[0], start=fetched[0].ready)
    gone = produced[1]
    kept = [x for x in whole if x not in (produced[0], fetched[0], gone)]
    found = verify_plan(
        deployment.problem,
        deployment.map,
        recompiled(deployment.problem, MemoryMap((*kept, shorter, later))),
    )
    assert found.exact == len(whole) - 3
    assert found.realised_s != found.planned_s
    assert 0 < found.bytes_share < 1
    reasons = {x.buffer: x.reason for x in found.differences}
    buffers = mixer.problem.program.buffers
    assert "no room was left" in reasons[buffers[gone.buffer].name]
    assert "ended early" in reasons[buffers[shorter.buffer].name]
    assert "another point" in reasons[buffers[later.buffer].name]


def test_what_was_not_planned_is_a_difference(mixer: Input, own: MemoryMap) -> None:
    deployment = deploy(mixer, own)
    first = deployment.map.allocations[0]
    problem = deployment.problem
    found = verify_plan(problem, MemoryMap(), recompiled(problem, MemoryMap((first,))))
    [difference] = found.differences
    assert difference.planned is None
    assert difference.realised == Span(first.start, first.ready, first.end)
    assert (found.allocations, found.exact_share, found.bytes_share) == (0, 1, 1)


def test_another_program_is_refused(
    mixer: Input, own: MemoryMap, bundled: Path
) -> None:
    problem = deploy(mixer, own).problem
    other = read_input(bundled / "gcn3_train_n4096").problem
    with pytest.raises(CompilerError, match="the map is for another program"):
        verify_plan(problem, MemoryMap(), other)
    with pytest.raises(CompilerError, match="expected the compiler's answer"):
        verify_plan(problem, MemoryMap(), recompiled(problem, None))
