"""Graphs of operators, as machine-learning frameworks have them, and their programs.

A reader of such graphs tells here what each operator touches, in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from hybridalloc.io.target_file import get_target
from hybridalloc.problem import CostModel, Problem, get_cost_model
from hybridalloc.program import Access, Buffer, Instruction, Program
from hybridalloc.target import Target


@dataclass(frozen=True, slots=True)
class _Operator:
    name: str
    kind: str
    flops: float
    accesses: tuple[Access, ...]
    """To storages, by number."""


class OperatorGraph:
    """The operators of a model in the order in which they run, and their storages.

    A storage is memory that one or more values share, such as views of one tensor. It
    goes by the number that ``add_input`` or ``add_intermediate`` gave it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._storages: list[Buffer] = []
        self._names: set[str] = set()
        self._repeats: Counter[str] = Counter()
        self._outputs: set[int] = set()
        self._written: set[int] = set()
        self._operators: list[_Operator] = []

    def add_input(self, name: str, size: int, *, is_weight: bool) -> int:
        """A storage that is filled before the model runs.

        Args:
            name: What to call it; a number is added if that is taken.
            size: Bytes.
            is_weight: Whether it holds the same in every run, if nothing writes it.
        """
        return self._add(Buffer(name, size, is_input=True, cross_program=is_weight))

    def add_intermediate(self, name: str, size: int) -> int:
        """A storage of so many bytes that an operator fills."""
        return self._add(Buffer(name, size))

    def mark_output(self, storage: int) -> None:
        """A storage that is needed when the model has run; a written input is one."""
        self._outputs.add(storage)

    def add_operator(
        self, name: str, kind: str, flops: float, accesses: Iterable[Access]
    ) -> None:
        """The next operator; one that touches no byte is left out.

        Args:
            name: Need not be unique.
            kind: What it does.
            flops: Floating-point operations.
            accesses: To storages by number; several to one add up.
        """
        sums: dict[int, Access] = {}
        for access in accesses:
            if self._storages[access.buffer].size:
                so_far = sums.get(access.buffer)
                sums[access.buffer] = _sum(so_far, access) if so_far else access
        if sums:
            self._operators.append(_Operator(name, kind, flops, tuple(sums.values())))
        self._written.update(x.buffer for x in sums.values() if x.writes)

    def problem(self, target: Target | str, cost_model: CostModel | str) -> Problem:
        """The problem of mapping the graph's program.

        Args:
            target: What it runs on, or its name.
            cost_model: How time is judged.

        Raises:
            ValueError: As of ``program``, or the graph lacks what the cost model needs.
            UsageError: The target or cost model is unknown, or its capacity must be
                given.
        """
        machine = get_target(target) if isinstance(target, str) else target
        judge = get_cost_model(cost_model)
        return Problem(self.program(machine), machine, judge)

    def program(self, target: Target) -> Program:
        """The program of the graph, with compute times at the target's peak rate.

        Raises:
            ValueError: No operator touches memory, or one reads a storage that none
                has filled.
        """
        if not self._operators:
            raise ValueError("expected at least one operator that touches memory")
        kept = [i for i, storage in enumerate(self._storages) if storage.size]
        index = {number: i for i, number in enumerate(kept)}
        instructions = tuple(
            Instruction(
                operator.name,
                operator.flops / target.flops_per_second,
                tuple(replace(x, buffer=index[x.buffer]) for x in operator.accesses),
                kind=operator.kind,
            )
            for operator in self._operators
        )
        return Program(self.name, instructions, tuple(map(self._buffer, kept)))

    def _add(self, storage: Buffer) -> int:
        name = storage.name
        while name in self._names:
            self._repeats[storage.name] += 1
            name = f"{storage.name}#{self._repeats[storage.name] + 1}"
        self._names.add(name)
        self._storages.append(replace(storage, name=name))
        return len(self._storages) - 1

    def _buffer(self, number: int) -> Buffer:
        storage = self._storages[number]
        changes = storage.is_input and number in self._written
        return replace(
            storage,
            is_output=changes or number in self._outputs,
            cross_program=storage.cross_program and not changes,
        )


def _sum(a: Access, b: Access) -> Access:
    """Two accesses to one storage as one."""
    read = a.read_bytes + b.read_bytes
    whole = (a.whole or b.whole) and not read
    return Access(a.buffer, read, a.write_bytes + b.write_bytes, whole)
