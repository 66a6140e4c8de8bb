"""``explain`` and ``diff``."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import bound_stand_ins
import pytest
from commands import Command

from hybridalloc.io.json_format import write_map
from hybridalloc.io.read import read_problem
from hybridalloc.memory_map import MemoryMap
from hybridalloc.understanding import Difference, Explanation


@pytest.fixture
def lstm(bundled: Path) -> Path:
    return bundled / "lstm_lm_b64_s128"


@pytest.fixture
def slow(lstm: Path, tmp_path: Path) -> Path:
    """A map with everything in slow memory."""
    path = tmp_path / "slow.json"
    write_map(MemoryMap(), read_problem(lstm), path)
    return path


def test_explain_says_what_a_weight_in_fast_memory_saves(
    command: Command, lstm: Path
) -> None:
    ran = command("explain", lstm, "input", "l___1___w")
    lines = ran.out.splitlines()
    assert (ran.code, ran.err) == (0, "")
    assert lines[0].endswith("times are simulated: roofline, tpu-v4i")
    assert "Its only access is served from fast memory." in lines[2]
    assert "prefetched: issued at 16, ready at 19" in ran.out


def test_explain_says_what_a_map_leaves(
    command: Command, lstm: Path, slow: Path
) -> None:
    out = command("explain", lstm, slow, "#3").out
    assert "Its only access is served from slow memory." in out
    assert "There is room, and the map leaves it: at offset 0 in [19, 55)" in out


def test_explain_says_what_it_does_not_try(command: Command, bundled: Path) -> None:
    out = command("explain", bundled / "wide_deep_b8192", "input", "wide__.1").out
    assert "There is room, but it does not pay" in out
    assert "A cross-program prefetch, which the run before brings, is not tried." in out


def test_explain_says_who_is_in_the_way(command: Command, bundled: Path) -> None:
    out = command("explain", bundled / "wide_deep_b8192", "input", "copy.1").out
    assert "gather_fusion (#27)" in out
    assert "So the map would gain by the trade." in out


def test_explain_says_why_a_buffer_can_never_be_there(
    command: Command, lstm: Path
) -> None:
    out = command("explain", lstm, "input", "#3", "--capacity", "8MiB").err
    assert "the map is not valid: " in out
    out = command("explain", lstm, "input", "constant.84").out
    assert "It can never be in fast memory: the input keeps it in slow memory" in out


def test_explain_as_json_has_the_fields_of_an_explanation(
    command: Command, lstm: Path
) -> None:
    ran = command("explain", lstm, "input", "#3", "--json", "--cost-model", "cycles")
    values = json.loads(ran.out)
    named = {field.name for field in fields(Explanation)}
    assert set(values) == {*named, "saving_s", "input", "map"}
    assert (values["name"], values["cost_model"]) == ("a_0___l___1___w__.1", "cycles")
    assert values["places"][1]["allocation"]["origin"] == "prefetched"


def test_diff_names_the_maps_and_ranks_buffers(
    command: Command, lstm: Path, slow: Path
) -> None:
    ran = command("diff", lstm, slow, "input", "--limit", "2")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0].endswith("simulated: roofline and cycles, tpu-v4i")
    assert f"A: {slow}\nB: input\n" in ran.out
    assert "and 16 more buffers (--limit 18 shows all)" in ran.out


def test_diff_as_json_has_the_fields_of_a_difference(
    command: Command, lstm: Path, slow: Path
) -> None:
    values = json.loads(command("diff", lstm, slow, "input", "--json").out)
    named = {field.name for field in fields(Difference)}
    assert set(values) == {*named, "running_change_s", "input", "map_a", "map_b"}
    effects = [abs(x["effect_s"]) for x in values["buffers"]]
    assert effects == sorted(effects, reverse=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "input", "fusio"], "names of lstm_lm_b64_s128 have it in them"),
        (["explain", "input", "wieghts"], "unknown buffer 'wieghts'"),
        (["explain", "input", "#99"], "has 28 buffers (expected #0 to #27)"),
        (["diff", "input", "missing.json"], "missing.json"),
        (["diff", "input", "input", "--limit", "0"], "--limit"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(
    command: Command, lstm: Path, arguments: list[str], message: str
) -> None:
    name, *rest = arguments
    ran = command(name, lstm, *rest)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err


def test_an_invalid_map_is_refused_with_exit_code_2(
    command: Command, lstm: Path, slow: Path
) -> None:
    ran = command("diff", lstm, slow, "input", "--capacity", "1MiB")
    assert (ran.code, ran.out) == (2, "")
    warning, error = ran.err.splitlines()
    assert warning == (
        f"warning: {slow} was made for 128 MiB of fast memory, and is judged here with "
        "1 MiB (--capacity 134217728 for its own)"
    )
    assert error.startswith("error: the second map is not valid: offset: ")


def test_explain_prices_the_space_only_when_asked(
    command: Command, lstm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """16 MiB at 1e-12 s a byte, for 39 instructions: 39 * 16.78 us = 654.3 us."""
    made = bound_stand_ins.user(monkeypatch)(3e-3)
    plain = command("explain", lstm, "input", "#3")
    assert "Is it worth the space?" not in plain.out
    assert made.calls == []
    priced = command("explain", lstm, "input", "#3", "--prices").out
    assert "held  [16, 55)         654.3 µs       3.397 ms  worth it" in priced
    values = json.loads(
        command("explain", lstm, "input", "#3", "--prices", "--json").out
    )
    assert values["stays"][0]["price_s"] == pytest.approx(39 * 2**24 * 1e-12)
    assert made.calls == [(10.0, 0.0)] * 2


def test_explain_says_where_there_was_no_time_for_prices(
    command: Command, lstm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound_stand_ins.without_prices(monkeypatch, 3e-3)
    ran = command("explain", lstm, "input", "#3", "--prices")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "is too large for prices in 10 s" in ran.err
