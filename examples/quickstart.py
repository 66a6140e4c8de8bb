"""Find a memory map for a real program, and see what it gains."""

from pathlib import Path

from hybridalloc import solve
from hybridalloc.io.json_format import write_map
from hybridalloc.io.read import read_problem
from hybridalloc.simulator import Simulator

WORKLOADS = Path(__file__).parent / "workloads"


def main(out: Path) -> None:
    """Solve a workload and write its map.

    Args:
        out: The map file to write.
    """
    problem = read_problem(WORKLOADS / "lstm_lm_b64_s128")
    result = solve(problem, "greedy", time_limit=10)
    if result.map is None or result.time is None:
        raise SystemExit(f"no map: {result.status}")
    slow_s = Simulator(problem).slow_s
    print(f"{problem.program.name}: {result.time * 1e3:.3f} ms simulated (roofline)")
    print(f"{slow_s / result.time:.2f} times faster than everything in slow memory")
    write_map(result.map, problem, out)


if __name__ == "__main__":
    main(Path("map.json"))
