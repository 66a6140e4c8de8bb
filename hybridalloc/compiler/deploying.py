"""Deploying: the settings under which the compiler carries a map out."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hybridalloc.compiler.compilation import Settings
from hybridalloc.compiler.flags import settings_of
from hybridalloc.compiler.plan import plan_of
from hybridalloc.errors import InputError
from hybridalloc.expressible import deviations, project
from hybridalloc.io.files import write_text
from hybridalloc.io.read import Input
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.simulator import Simulator

LONGEST_VARIABLE = 128 * 1024
"""Bytes; Linux takes no longer variable of the environment."""


@dataclass(frozen=True)
class Deployment:
    """What to tell the compiler, and what of a map that says."""

    problem: Problem
    """For expressible maps."""
    given: MemoryMap
    map: MemoryMap
    """What the compiler is told to carry out: the expressible map nearest to it."""
    settings: Settings

    @property
    def left_out(self) -> tuple[str, ...]:
        """The buffers whose allocations are not as in the map that was given."""
        names = (
            self.problem.program.buffers[x.buffer].name
            for x in deviations(self.problem, self.given)
        )
        return tuple(dict.fromkeys(names))

    @cached_property
    def _simulator(self) -> Simulator:
        return Simulator(self.problem)

    @property
    def given_s(self) -> float:
        """Simulated seconds of the map that was given."""
        return self._simulator.simulate(self.given).time_s

    @property
    def planned_s(self) -> float:
        """Simulated seconds of what the compiler is told."""
        return self._simulator.simulate(self.map).time_s

    @property
    def default_s(self) -> float | None:
        """Simulated seconds of the compiler's own answer, if the input carries it."""
        own = self.problem.compiler_map
        return None if own is None else self._simulator.simulate(own).time_s

    @property
    def is_worth_it(self) -> bool:
        """Whether it is no slower than what the compiler does by itself, if known."""
        return self.default_s is None or self.planned_s <= self.default_s

    @property
    def environment(self) -> dict[str, str]:
        """The variables that say the same to any program that compiles with XLA."""
        flags = (f"--{name}={value}" for name, value in self.settings.options.items())
        return {**self.fuel, "LIBTPU_INIT_ARGS": " ".join(flags)}

    @property
    def fuel(self) -> dict[str, str]:
        """The variable that no compiler option can stand for."""
        return {"XLA_FLAGS": f"--xla_fuel=memory_space_assignment={self.settings.fuel}"}

    def json_text(self) -> str:
        """The settings, for programs: options for jax, and the one variable beside."""
        fields = {
            "program": self.problem.program.name,
            "target": self.problem.target.name,
            "environment": self.fuel,
            "compiler_options": dict(self.settings.options),
        }
        return json.dumps(fields, indent=2) + "\n"

    def shell_text(self) -> str:
        """The settings, for shells: both variables, exported.

        Raises:
            InputError: They are longer than a variable can be.
        """
        for name, value in self.environment.items():
            if len(value) >= LONGEST_VARIABLE:
                raise InputError(
                    self.problem.program.name,
                    f"{name} would take {len(value):,} bytes, and Linux allows "
                    f"{LONGEST_VARIABLE:,} (expected fewer allocations; or give jax "
                    f"the compiler options of the .json file)",
                )
        pairs = self.environment.items()
        lines = [f"export {name}={shlex.quote(value)}" for name, value in pairs]
        return "\n".join(lines) + "\n"


def deploy(found: Input, memory_map: MemoryMap) -> Deployment:
    """The settings that make the compiler carry a map out.

    Args:
        found: The problem and the HLO that it was read from.
        memory_map: A valid map; what is not expressible of it is left out.

    Raises:
        InputError: There is no HLO, without whose names nothing can be said.
    """
    if found.hlo is None:
        raise InputError(
            found.problem.program.name,
            "expected a workload folder or HLO text: without the compiler's names it "
            "cannot be told anything",
        )
    problem = found.problem.restricted()
    projected = project(problem, memory_map)
    settings = settings_of(plan_of(found.hlo, problem, projected))
    return Deployment(problem, memory_map, projected, settings)


def write_deployment(deployment: Deployment, path: Path) -> None:
    """Write the settings: variables of a shell if the name ends in .sh, else JSON.

    Raises:
        InputError: The file cannot be written, or not in this form.
    """
    is_shell = path.suffix == ".sh"
    write_text(path, deployment.shell_text() if is_shell else deployment.json_text())
