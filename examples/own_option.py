"""A heuristic of one's own, as an option of the game that the agent plays."""

from pathlib import Path

from hybridalloc import solve
from hybridalloc.agents.hybrid import AgentHybrid, AgentHybridConfig
from hybridalloc.game import Action, Game


def small_ones_first(game: Game) -> list[Action]:
    """What is large stays in slow memory; anything else is kept where it may be."""
    buffers, target = game.problem.program.buffers, game.problem.target
    large = [x.size > target.capacity // 16 for x in buffers]
    return [Action.DROP if large[x.buffer] else Action.NO_COPY for x in game.steps]


def main() -> None:
    """Let the agent follow it, beside the usual heuristics."""
    program = Path(__file__).parent / "workloads" / "gcn3_train_n4096"
    agent = AgentHybrid(AgentHybridConfig(own=(small_ones_first,)))
    result = solve(program, agent, time_limit=5)
    print(f"{result.time:.6f} s, simulated (roofline, tpu-v4i)")


if __name__ == "__main__":
    main()
