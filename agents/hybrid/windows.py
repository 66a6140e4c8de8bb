"""The strategy ``agent-windows``: windows where the agent is in doubt."""

from __future__ import annotations

from dataclasses import dataclass

from hybridalloc.agents.hybrid.proposing import Doubt
from hybridalloc.agents.muzero.strategy import plain_network_of
from hybridalloc.problem import Problem
from hybridalloc.ranges import require_within
from hybridalloc.registry import get_solver
from hybridalloc.solver import Outcome, Run


@dataclass(frozen=True, slots=True)
class AgentWindowsConfig:
    """What the agent is asked."""

    weights: str = ""
    """A file that `train` wrote; by default the weights that come with the package."""
    positions: int = 256
    """The most positions of a map that the network evaluates, evenly spaced."""

    def __post_init__(self) -> None:
        require_within("positions", self.positions, 1)


class AgentWindows:
    """The strategy ``windows``, told by the network where windows are worth solving.

    An iteration is one window, and a warm start is where it begins.
    """

    def __init__(self, config: AgentWindowsConfig | None = None) -> None:
        self.config = config or AgentWindowsConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Improve a map window by window."""
        network = plain_network_of(self.config.weights)
        proposer = Doubt(network, self.config.positions)
        return get_solver("windows", proposer=proposer).solve(problem, run)
