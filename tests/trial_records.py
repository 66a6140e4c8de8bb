"""Records of trials that never ran."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hybridalloc.benchmarking.records import Ending, Facts, TrialRecord
from hybridalloc.benchmarking.trials import BOUND, Trial
from hybridalloc.problem import CostModel
from hybridalloc.report.records import Record

TRIAL = Trial(
    name="net",
    digest="0123456789abcdef",
    strategy="greedy",
    cost_model=CostModel.ROOFLINE,
    time_limit_s=10.0,
    seed=0,
    workers=1,
    given_target=None,
    given_capacity_bytes=None,
    robust=False,
    version="1.0",
)
FACTS = Facts(
    ending=Ending.DONE,
    path="programs/net",
    family="net",
    started="2026-01-02T03:04:05+00:00",
    machine="a machine",
    cores=2,
    processes=2,
    instructions=50,
    buffers=20,
    reading_s=0.5,
    violations=0,
    mismatches=0,
)
ANSWER = Record(
    input="programs/net",
    strategy="greedy",
    target="tpu-v4i",
    cost_model="roofline",
    capacity_bytes=2**27,
    status="feasible",
    valid=True,
    time_s=1.0,
    bound_s=None,
    gap=None,
    slow_s=4.0,
    xla_s=2.0,
    speedup_vs_slow=4.0,
    speedup_vs_xla=2.0,
    peak_bytes=2**20,
    fragmentation=0.0,
    moved_bytes=2**21,
    stall_s=0.0,
    runtime_s=3.0,
    seed=0,
)


def search(
    name: str,
    strategy: str,
    time_s: float | None,
    *,
    slow_s: float = 4.0,
    xla_s: float | None = 2.0,
    bound_s: float | None = None,
    **facts: Any,
) -> TrialRecord:
    """The record of a search on a program of this name, which its digest follows."""
    trial = replace(TRIAL, name=name, digest=f"{name:0<16}", strategy=strategy)
    answer = replace(
        ANSWER,
        strategy=strategy,
        time_s=time_s,
        slow_s=slow_s,
        xla_s=xla_s,
        bound_s=bound_s,
    )
    return TrialRecord(trial, replace(FACTS, family=name, **facts), answer)


def proof(name: str, proven_s: float) -> TrialRecord:
    """The record of a bound of a program of this name."""
    trial = replace(search(name, BOUND, None).trial, time_limit_s=7.0)
    return TrialRecord(trial, replace(FACTS, proven_s=proven_s))


def failure(name: str, strategy: str, reason: str) -> TrialRecord:
    """The record of a search that failed."""
    trial = search(name, strategy, None).trial
    facts = replace(FACTS, ending=Ending.FAILED, reason=reason)
    return TrialRecord(trial, facts)
