"""Which parameters look like activations, which change from run to run.

XLA fetches across programs only what it takes for weights (its function
``LooksLikeAnActivation`` in Memory Space Assignment).
"""

from __future__ import annotations

from hybridalloc.io.hlo.module import Computation, HloInstruction, HloModule

_PASSED_ON = frozenset({"bitcast", "broadcast", "transpose"})


class Activations:
    """Tells activations from weights by how a module uses them.

    A weight is the second operand of convolutions and products, what is gathered
    from, sliced or reduced, directly or within fusions. All else is an activation.
    """

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._fused: dict[tuple[str, int], bool] = {}

    def is_activation(self, parameter: HloInstruction) -> bool:
        """Whether a parameter of the entry computation looks like one.

        A parameter that is a tuple does if any element of it does.
        """
        return self._any_use(self._module.entry, parameter)

    def _any_use(self, computation: Computation, value: HloInstruction) -> bool:
        return any(
            self._use(computation, value, user) for user in computation.users[value]
        )

    def _use(
        self, computation: Computation, value: HloInstruction, user: HloInstruction
    ) -> bool:
        """Whether one use of a value is that of an activation."""
        taken = [n for n, operand in enumerate(user.operands) if operand is value]
        match user.opcode:
            case "convolution" | "dot":
                return 0 in taken
            case "gather":
                return 1 in taken
            case "fusion":
                return any(self._fused_parameter(user, number) for number in taken)
            case "get-tuple-element":
                return self._any_use(computation, user)
            case opcode if opcode in _PASSED_ON:
                return self._any_use(computation, user)
            case "dynamic-slice" | "dynamic-update-slice":
                return max(taken) > 0 or self._any_use(computation, user)
            case "reduce":
                is_initial = max(taken) >= len(user.operands) // 2
                return is_initial or self._any_use(computation, user)
            case _:
                return True

    def _fused_parameter(self, fusion: HloInstruction, number: int) -> bool:
        """Whether a fusion's operand is used as an activation within it."""
        computation = self._module.computations[fusion.called("calls")[0]]
        key = computation.name, number
        if key not in self._fused:
            parameter = computation.parameters[number]
            self._fused[key] = self._any_use(computation, parameter)
        return self._fused[key]
