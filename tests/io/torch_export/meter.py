"""What PyTorch itself says of the memory that a run takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Meter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the storages that operators make while it is on, and when they go."""

    def __init__(self, known: Iterable[torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.made = 0
        """Bytes of all storages but the known ones."""
        self.peak = 0
        """The most bytes of them at one time."""
        self._known = {x.untyped_storage()._cdata for x in known}
        self._alive: dict[int, tuple[StorageWeakRef, int]] = {}

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run an operator and count what it made."""
        result = func(*args, **(kwargs or {}))
        for key, (reference, _) in list(self._alive.items()):
            if reference.expired():  # type: ignore[no-untyped-call]
                del self._alive[key]
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor):
                self._see(tensor.untyped_storage())
        self.peak = max(self.peak, sum(size for _, size in self._alive.values()))
        return result

    def _see(self, storage: torch.UntypedStorage) -> None:
        key = storage._cdata
        if key not in self._known and key not in self._alive:
            reference = StorageWeakRef(storage)  # type: ignore[no-untyped-call]
            self._alive[key] = reference, storage.nbytes()
            self.made += storage.nbytes()
