"""The strategy ``replay``: the compiler's own answer."""

from __future__ import annotations

from hybridalloc.checker import Rule, check
from hybridalloc.errors import UsageError
from hybridalloc.problem import Problem
from hybridalloc.solver import Outcome, Run


class Replay:
    """The map that came with the input."""

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Hand back the compiler's own answer.

        Raises:
            UsageError: The input does not carry it, or it is not valid for the
                problem's target.
        """
        answer = problem.compiler_map
        if answer is None:
            raise UsageError(
                f"strategy replay: program {problem.program.name} does not carry the "
                f"compiler's answer (expected a workload folder with after_msa and "
                f"allocinfo, or a compiler_map in the problem file)"
            )
        # The answer is input, not this strategy's work: a target with less memory
        # than the compiler had is a wrong request, not a defect.
        for violation in check(problem, answer):
            if problem.expressible and violation.rule is Rule.SLICES:
                continue  # what counts of it has none
            raise UsageError(
                f"strategy replay: the compiler's answer is not valid for target "
                f"{problem.target.name} with {problem.target.capacity} bytes of fast "
                f"memory: {violation.message}"
            )
        return Outcome(answer)
