"""The metrics of a training: lines of JSON, and events for TensorBoard."""

from __future__ import annotations

from typing import Any

from hybridalloc.agents.muzero.run_folder import RunFolder, read_lines, write_lines


class Metrics:
    """What has been told of the iterations so far."""

    def __init__(self, folder: RunFolder, iteration: int) -> None:
        """Go on before an iteration; what was told of it and later ones is forgotten.

        Args:
            folder: Of the training.
            iteration: The next one.

        Raises:
            InputError: What is there cannot be read.
        """
        known = range(iteration)
        rows = read_lines(folder.metrics)
        self._rows = [x for x in rows if x.get("iteration") in known]
        self._path = folder.metrics
        self._writer = _writer(folder, iteration)

    def write(self, row: dict[str, Any]) -> None:
        """Tell of an iteration: numbers by name, ``None`` for what is not known."""
        self._rows.append(row)
        write_lines(self._path, self._rows)
        if self._writer is None:
            return
        for name, value in row.items():
            if name != "iteration" and value is not None:
                self._writer.add_scalar(name, value, row["iteration"])
        self._writer.flush()

    def close(self) -> None:
        """Write what is left."""
        if self._writer is not None:
            self._writer.close()


def _writer(folder: RunFolder, iteration: int) -> Any:
    """What writes events; nothing where TensorBoard is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter  # takes seconds to load
    except ImportError:
        return None
    return SummaryWriter(str(folder.events), purge_step=iteration)
