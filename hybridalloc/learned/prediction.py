"""A learned roofline: cycles as a sum of compute and traffic, weighted by kind."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from hybridalloc.program import Instruction, Memory, Observation, Program
from hybridalloc.target import Target

FEATURES = ("one", "compute", "read", "write", "slow_read", "slow_write")
"""What weights are for: a cycle; the cycles of computing; those in which the slow
memory would serve everything read, and everything written; and again those for what it
does serve. So an instruction never gains by being served from slow memory."""

COEFFICIENTS_FILE = "coefficients.json"


@dataclass(frozen=True)
class Coefficients:
    """What each feature weighs, by kind of instruction."""

    weights: Mapping[str, tuple[float, ...] | None]
    """One for each of ``FEATURES``, at least 0. ``None``: the compiler gives this kind
    no estimates. The kind "" stands for every kind that is not here."""

    def __post_init__(self) -> None:
        if not self.weights.get(""):
            raise ValueError("coefficients: expected weights for the kind ''")
        for kind, weights in self.weights.items():
            if weights is None:
                continue
            if len(weights) != len(FEATURES) or not all(x >= 0 for x in weights):
                raise ValueError(
                    f"coefficients: kind {kind!r} has the weights {weights}, expected "
                    f"{len(FEATURES)} numbers of at least 0"
                )

    def of(self, kind: str) -> tuple[float, ...] | None:
        """The weights of a kind, or of its family, or of all.

        The family of a ``loop-fusion/reduce`` are the kinds that begin with
        ``loop-fusion``.
        """
        for name in (kind, family(kind)):
            if name in self.weights:
                return self.weights[name]
        return self.weights[""]


def family(kind: str) -> str:
    """The kind without its heaviest opcode.

    >>> family("loop-fusion/reduce"), family("copy")
    ('loop-fusion', 'copy')
    """
    return kind.partition("/")[0]


@cache
def built_in() -> Coefficients:
    """The coefficients that come with the package."""
    path = files(__package__).joinpath(COEFFICIENTS_FILE)
    return loads(path.read_text(encoding="utf-8"))


def loads(text: str) -> Coefficients:
    """The coefficients in the text of a file, as ``dumps`` gives it."""
    weights = json.loads(text)["weights"]
    return Coefficients(
        {
            kind: None if found is None else tuple(found[name] for name in FEATURES)
            for kind, found in weights.items()
        }
    )


def dumps(coefficients: Coefficients) -> str:
    """The coefficients as JSON, one line for each kind."""
    lines = []
    for kind, found in sorted(coefficients.weights.items()):
        named = None
        if found is not None:
            rounded = (float(f"{x:.4g}") for x in found)
            named = dict(zip(FEATURES, rounded, strict=True))
        lines.append(f"    {json.dumps(kind)}: {json.dumps(named)}")
    return '{\n  "weights": {\n' + ",\n".join(lines) + "\n  }\n}\n"


def features(
    instruction: Instruction, target: Target, fast: Collection[int]
) -> tuple[float, ...]:
    """The ``FEATURES`` of an instruction at one placement, in cycles.

    Args:
        instruction: The instruction.
        target: Gives the bandwidths of its slow memory, and the clock.
        fast: The buffers, as indices, whose accesses fast memory serves.
    """
    clock_hz, slow = target.clock_hz, target.slow
    per_read = clock_hz / slow.read_bandwidth
    per_write = clock_hz / slow.write_bandwidth
    read = write = slow_read = slow_write = 0.0
    for access in instruction.accesses:
        reading, writing = access.read_bytes * per_read, access.write_bytes * per_write
        read += reading
        write += writing
        if access.buffer not in fast:
            slow_read += reading
            slow_write += writing
    compute = instruction.compute_s * clock_hz
    return (1.0, compute, read, write, slow_read, slow_write)


def predict(
    program: Program, target: Target, coefficients: Coefficients | None = None
) -> tuple[tuple[Observation, ...], ...]:
    """For each instruction, what the compiler would estimate, by the learned model.

    Args:
        program: Its own observations make no difference.
        target: Turns compute times and bytes into cycles.
        coefficients: Those that come with the package if not given.

    Returns:
        For each instruction two observations: everything in slow memory, and every
        buffer that may be there in fast memory. The second is missing where there is
        no such buffer, and both where the instruction does nothing or the compiler
        estimates nothing of its kind.
    """
    chosen = coefficients or built_in()
    may_be_fast = [buffer.memory is not Memory.SLOW for buffer in program.buffers]
    return tuple(
        tuple(_predicted(instruction, target, chosen, may_be_fast))
        for instruction in program.instructions
    )


def _predicted(
    instruction: Instruction,
    target: Target,
    coefficients: Coefficients,
    may_be_fast: list[bool],
) -> Iterator[Observation]:
    weights = coefficients.of(instruction.kind)
    all_slow = features(instruction, target, ())
    if weights is None or not any(all_slow[1:]):
        return
    yield Observation((), _sum(weights, all_slow))
    fast = sorted(a.buffer for a in instruction.accesses if may_be_fast[a.buffer])
    if fast:
        yield Observation(
            tuple(fast), _sum(weights, features(instruction, target, fast))
        )


def _sum(weights: tuple[float, ...], found: tuple[float, ...]) -> float:
    return sum(weight * x for weight, x in zip(weights, found, strict=True))
