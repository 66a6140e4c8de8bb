"""Bytes and operations of HLO instructions, as XLA's HloCostAnalysis counts them.

docs/fidelity.md, Benefits, says how well the counts agree with what XLA prints, and
where the rules come from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from hybridalloc.io.hlo.flops import BAD_ATTRIBUTES, FlopCounter, bad_attributes
from hybridalloc.io.hlo.module import Computation, HloInstruction, HloModule
from hybridalloc.io.hlo.opcodes import is_free
from hybridalloc.io.hlo.parser import HloSyntaxError
from hybridalloc.io.hlo.shape import Shape, ShapeIndex

LeafBytes = dict[ShapeIndex, int]
"""Bytes by index of an array in a nested tuple; an array has the one index ``()``."""


@dataclass(frozen=True, slots=True)
class InstructionCost:
    """What one run of an instruction computes, reads and writes."""

    flops: float
    operand_bytes: tuple[LeafBytes, ...]
    """Bytes read, for each operand."""
    output_bytes: LeafBytes
    """Bytes written."""

    @property
    def total_bytes(self) -> int:
        """Bytes read and written."""
        read = sum(sum(leaves.values()) for leaves in self.operand_bytes)
        return read + sum(self.output_bytes.values())


class CostAnalysis:
    """Costs of the instructions of one module, inside fusions and out."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._flops = FlopCounter(module)
        self._fusion_reads: dict[str, tuple[LeafBytes, ...]] = {}

    @property
    def unknown(self) -> dict[str, str]:
        """What the costs seen so far had no rule for.

        Opcodes (of a custom call, its target), with one instruction of each. They
        read and write every operand and output once, and compute nothing.
        """
        return self._flops.unknown

    def cost(self, instruction: HloInstruction) -> InstructionCost:
        """The cost of one run of an instruction.

        An instruction that calls others (a while, a call) costs nothing itself.

        Raises:
            HloSyntaxError: Its attributes do not fit its operands.
        """
        try:
            return self._cost(instruction)
        except HloSyntaxError:
            raise
        except BAD_ATTRIBUTES as error:
            raise bad_attributes(instruction, error) from error

    def _cost(self, instruction: HloInstruction) -> InstructionCost:
        if is_free(instruction):
            reads = tuple(_nothing(operand.shape) for operand in instruction.operands)
            return InstructionCost(0, reads, _nothing(instruction.shape))
        flops = self._flops.flops(instruction)
        if instruction.opcode != "fusion":
            return InstructionCost(flops, *_traffic(instruction))
        access = self._flops.custom_access(instruction)
        if access is not None:
            return InstructionCost(flops, *_custom_traffic(instruction, access))
        fused = self._module.computations[instruction.called("calls")[0]]
        return InstructionCost(
            flops, self._reads(fused), _fusion_writes(fused, instruction.shape)
        )

    def _reads(self, fused: Computation) -> tuple[LeafBytes, ...]:
        """What a fusion reads of each operand."""
        if fused.name not in self._fusion_reads:
            self._fusion_reads[fused.name] = tuple(
                {
                    index: sum(self._leaf_read(fused, value) for value in values)
                    for index, values in _leaf_values(fused, parameter)
                }
                for parameter in fused.parameters
            )
        return self._fusion_reads[fused.name]

    def _leaf_read(self, fused: Computation, value: HloInstruction) -> int:
        """Bytes that the users of a fusion's parameter read of it."""
        users = fused.users[value]
        read = _read_by(value, [user for user in users if user.opcode != "fusion"])
        for user in users:
            if user.opcode == "fusion":
                numbers = [n for n, it in enumerate(user.operands) if it is value]
                read += sum(self._nested_read(fused, user, n) for n in numbers)
        return read

    def _nested_read(
        self, fused: Computation, fusion: HloInstruction, number: int
    ) -> int:
        """Bytes that a fusion within a fusion reads of one operand.

        It reads for those who use its result, and for slices of it only their part
        if the operand goes straight into its root. One without users reads nothing.
        """
        nested = self._module.computations[fusion.called("calls")[0]]
        parameter, root = nested.parameters[number], nested.root
        parts: list[HloInstruction] = []
        if not root.operands or root.operands[0] is parameter:
            parts = [user for user in fused.users[fusion] if user.opcode in _PARTIAL]
        read = _read_by(fusion, parts) if parts else 0
        if len(parts) < len(fused.users[fusion]):
            read += self._leaf_read(nested, parameter)
        return read


_PARTIAL = ("slice", "dynamic-slice", "dynamic-update-slice")


def _nothing(shape: Shape) -> LeafBytes:
    return dict.fromkeys((index for index, _ in shape.leaves), 0)


def _everything(shape: Shape) -> LeafBytes:
    return {index: leaf.size for index, leaf in shape.leaves}


def _read_by(value: HloInstruction, users: Iterable[HloInstruction]) -> int:
    """Bytes of a value that these users read together.

    Slices read their part. Each broadcast and each reshape reads it all. The others
    share one reading.
    """
    read, shared = 0, False
    for user in users:
        first = value is user.operands[0]
        if user.opcode == "slice" or (user.opcode == "dynamic-slice" and first):
            read += user.shape.size
        elif user.opcode in ("broadcast", "reshape"):
            read += value.shape.size
        elif not (user.opcode == "dynamic-update-slice" and first):
            shared = True
    return read + value.shape.size * shared


def _leaf_values(
    fused: Computation, parameter: HloInstruction
) -> Iterable[tuple[ShapeIndex, list[HloInstruction]]]:
    """For each array of a parameter, the instructions that name it."""
    for index, _ in parameter.shape.leaves:
        values = [parameter]
        for position in index:
            values = [
                user
                for value in values
                for user in fused.users[value]
                if user.opcode == "get-tuple-element"
                and user.integers("index") == (position,)
            ]
        yield index, values


def _fusion_writes(fused: Computation, shape: Shape) -> LeafBytes:
    """An update in place writes the update, anything else its whole output."""
    root = fused.root
    written = _everything(shape)
    for index in written:
        value = root
        if len(index) == 1 and root.opcode == "tuple":
            value = root.operands[index[0]]
        if value.opcode == "dynamic-update-slice":
            written[index] = value.operands[1].shape.size
    return written


def _traffic(instruction: HloInstruction) -> tuple[tuple[LeafBytes, ...], LeafBytes]:
    """What an instruction other than a fusion reads and writes."""
    reads = [_everything(operand.shape) for operand in instruction.operands]
    writes = _everything(instruction.shape)
    opcode = instruction.opcode
    if opcode in ("slice", "dynamic-slice"):
        reads[0] = writes
    elif opcode == "dynamic-update-slice":
        reads[0], writes = _nothing(instruction.shape), reads[1]
    elif opcode == "gather":
        slices = instruction.integers("slice_sizes")
        reads[0] = {(): writes[()] * _padding(instruction.operands[0].shape, slices)}
    elif opcode in ("cholesky", "triangular-solve"):
        reads[0] = {(): reads[0][()] // 2}  # the other triangle is zero
        writes = reads[0] if opcode == "cholesky" else writes
    elif opcode == "scatter":
        count = len(reads) // 2
        padding = _padding(instruction.operands[0].shape, _scattered(instruction))
        touched = [leaves[()] * padding for leaves in reads[count + 1 :]]
        reads[:count] = [{(): size} for size in touched]
        writes = dict(zip(writes, touched, strict=True))
    return tuple(reads), writes


def _custom_traffic(
    fusion: HloInstruction, access: HloInstruction
) -> tuple[tuple[LeafBytes, ...], LeafBytes]:
    """What a custom fusion for one gather or scatter reads and writes.

    XLA takes the operands of the gather for those of the fusion. Further operands
    are read once.
    """
    reads, writes = _traffic(access)
    further = [_everything(operand.shape) for operand in fusion.operands]
    return (*reads, *further[len(reads) :])[: len(further)], writes


def _scattered(scatter: HloInstruction) -> tuple[int, ...]:
    """The sizes of one window of a scatter, in the dimensions of its operand."""
    updates = scatter.operands[-1].shape.dims
    window = iter([updates[axis] for axis in scatter.integers("update_window_dims")])
    inserted = {
        *scatter.integers("inserted_window_dims"),
        *scatter.integers("input_batching_dims"),
    }
    rank = len(scatter.operands[0].shape.dims)
    return tuple(1 if axis in inserted else next(window, 1) for axis in range(rank))


def _padding(shape: Shape, slice_sizes: tuple[int, ...]) -> int:
    """How often a slice of a tiled array fits into the tiles that it touches.

    Tiles have 8 rows of 128 elements: rows that are gathered one by one cost 8 times
    their bytes, single elements 1024 times.

    >>> from hybridalloc.io.hlo.shape import parse_shape
    >>> _padding(parse_shape("f32[1000,256]{1,0:T(8,128)}"), (1, 256))
    8
    """
    if not shape.tiles:
        return 1
    order = shape.minor_to_major or tuple(reversed(range(len(shape.dims))))
    sizes = [slice_sizes[axis] for axis in order] + [1, 1]
    return math.prod(
        tile for tile, size in zip((128, 8), sizes, strict=False) if size == 1
    )
