"""A strategy of the registry with its options: what a name in a text stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hybridalloc.compose.options import configure, value_text
from hybridalloc.errors import HybridAllocError, StrategyError
from hybridalloc.problem import Problem
from hybridalloc.registry import OURS, get_entry, get_solver, load
from hybridalloc.solver import Outcome, Run, Solver


@dataclass(frozen=True)
class Strategy:
    """The strategy of this name; two are equal if name and options are."""

    name: str
    options: tuple[tuple[str, object], ...] = ()
    """Those that were given, in the order of the fields of its config."""
    solver: Solver = field(compare=False, repr=False, kw_only=True)

    @classmethod
    def named(cls, name: str, settings: Mapping[str, str] | None = None) -> Strategy:
        """Make a strategy.

        Args:
            name: Its name in the registry.
            settings: The text of each option's value.

        Raises:
            UsageError: There is no such strategy or option, or a value is not one.
        """
        if not settings:
            return cls(name, solver=get_solver(name))
        config, values = configure(name, load(name), settings)
        solver = get_solver(name, config=config)
        return cls(name, tuple(values.items()), solver=solver)

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """As the strategy does.

        Raises:
            StrategyError: It comes with another package and failed.
        """
        try:
            return self.solver.solve(problem, run)
        except (HybridAllocError, TimeoutError):
            raise
        except Exception as error:
            package = get_entry(self.name).package
            if package == OURS:
                raise
            raise StrategyError(
                f"strategy {self.name!r} of package {package} failed: "
                f"{type(error).__name__}: {error}"
            ) from error

    def __str__(self) -> str:
        if not self.options:
            return self.name
        options = (f"{name}={value_text(value)}" for name, value in self.options)
        return f"{self.name}({','.join(options)})"
