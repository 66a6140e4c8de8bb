"""Which HLO opcodes cost nothing, move data, or compute element by element."""

from __future__ import annotations

from hybridalloc.io.hlo.module import HloInstruction


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FREE = _words(
    "add-dependency after-all bitcast call conditional constant domain "
    "get-tuple-element opt-barrier parameter partition-id recv replica-id send tuple "
    "while"
)
"""Neither moves data nor computes, or what it does is counted elsewhere: in the
computations that it calls, or by the copy engine."""

PASS_THROUGH = _words("add-dependency bitcast domain opt-barrier")
"""Gives out its first operand, array by array."""

ASYNCHRONOUS = ("-start", "-update", "-done")
"""Endings of the opcodes of asynchronous instructions, which take no time in XLA."""

FREE_TARGETS = frozenset({"AllocateBuffer", "ConcatBitcast"})
"""Targets of custom calls that cost nothing."""

MARKING_TARGETS = frozenset(
    {"AssumeGatherIndicesInBound", "GatherScatterIndicesBitpacked", "Sharding"}
)
"""Targets of custom calls that tell the compiler something and compute nothing."""

ELEMENTWISE = _words(
    "abs add and bitcast-convert ceil clamp compare complex convert "
    "count-leading-zeros divide floor imag is-finite maximum minimum multiply negate "
    "not or popcnt real reduce-precision remainder round-nearest-afz "
    "round-nearest-even select shift-left shift-right-arithmetic shift-right-logical "
    "sign stochastic-convert subtract xor"
)
"""One operation for each element of the output."""

TRANSCENDENTAL = _words(
    "acos acosh asin asinh atan2 atanh cbrt cosh cosine erf exponential "
    "exponential-minus-one log log-plus-one logistic power rng rng-bit-generator rsqrt "
    "sine sinh sqrt tan tanh"
)
"""Element by element too, but XLA counts these apart, and they decide no time: none."""

MOVES = _words(
    "all-gather all-to-all batch-norm-grad batch-norm-inference batch-norm-training "
    "broadcast collective-broadcast collective-permute concatenate copy "
    "dynamic-reshape dynamic-slice dynamic-update-slice gather get-dimension-size "
    "infeed iota outfeed pad ragged-all-to-all reduce-scatter reshape reverse "
    "rng-get-and-update-state set-dimension-size slice topk transpose"
)
"""Moves data and computes nothing, or counts as if it did."""


def custom_call_target(instruction: HloInstruction) -> str:
    """The target of a custom call; of anything else, nothing."""
    if instruction.opcode != "custom-call":
        return ""
    return instruction.attributes.get("custom_call_target", "").strip('"')


def is_free(instruction: HloInstruction) -> bool:
    """Whether it takes no time and touches no memory."""
    return (
        instruction.opcode in FREE
        or instruction.opcode.endswith(ASYNCHRONOUS)
        or custom_call_target(instruction) in FREE_TARGETS
    )
