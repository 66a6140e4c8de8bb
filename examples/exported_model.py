"""Export a small PyTorch model, map its memory, and save it for the command line."""

from pathlib import Path

import torch
from torch import nn

from hybridalloc import solve
from hybridalloc.io.torch_export import from_exported_program


def main(out: Path) -> None:
    """Solve a small network of convolutions.

    Args:
        out: The file to save the exported program in.
    """
    model = nn.Sequential(
        nn.Conv2d(3, 64, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.Conv2d(64, 64, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, 10),
    ).eval()
    exported = torch.export.export(model, (torch.zeros(8, 3, 64, 64),))
    problem = from_exported_program(exported, "tpu-v4i", name="convolutions")
    result = solve(problem, "greedy", time_limit=10)
    if result.time is None:
        raise SystemExit(f"no map: {result.status}")
    print(f"{problem.program.name}: {result.time * 1e6:.1f} µs simulated (roofline)")
    torch.export.save(exported, out)


if __name__ == "__main__":
    main(Path("convolutions.pt2"))
