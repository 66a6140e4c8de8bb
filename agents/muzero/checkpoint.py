"""Weights in one file, beside the sizes of the network that they are for."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from hybridalloc.agents.muzero.config import NetworkConfig
from hybridalloc.agents.muzero.network import Network
from hybridalloc.errors import InputError
from hybridalloc.io.files import write_bytes

FORMAT = "hybridalloc muzero network 1"
"""Says what a file is, and which version of it."""


def save_network(network: Network, path: Path | str) -> None:
    """Write a network into a file, which appears complete or not at all.

    Raises:
        InputError: The file cannot be written.
    """
    weights = {name: x.detach().cpu() for name, x in network.state_dict().items()}
    config = network.config.as_dict()
    content = {
        "format": FORMAT,
        "config": config,
        "weights": weights,
        "digest": _digest(config, weights),
    }
    data = io.BytesIO()
    torch.save(content, data)
    write_bytes(path, data.getvalue())


def load_network(path: Path | str, device: torch.device | str = "cpu") -> Network:
    """Read a network from a file; no code in it is run.

    Args:
        path: As ``save_network`` wrote it.
        device: Where the network is to be.

    Returns:
        In the mode for evaluation.

    Raises:
        InputError: The file cannot be read, is something else, or is damaged.
    """
    path = Path(path)
    content = _read(path)
    try:
        config, weights = content["config"], content["weights"]
        if content["digest"] != _digest(config, weights):
            raise InputError(path, "the weights are damaged: their digest differs")
        network = Network(NetworkConfig.from_dict(config))
        network.load_state_dict(weights)
        if not all(x.isfinite().all() for x in network.state_dict().values()):
            raise ValueError("some weights are not finite")
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(path, f"expected a network: {_line(error)}") from error
    return network.to(device).eval()


def _read(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot read this file: {error}") from error
    try:
        content = torch.load(io.BytesIO(data), "cpu", weights_only=True)
    except Exception as error:  # torch raises any kind, by where the damage is
        message = f"expected weights of a network, without code: {_line(error)}"
        raise InputError(path, message) from error
    found = content.get("format") if isinstance(content, dict) else None
    if found != FORMAT:
        raise InputError(path, f"expected the format {FORMAT!r}, found {found!r}")
    return cast(dict[str, Any], content)


def _digest(config: dict[str, Any], weights: dict[str, Tensor]) -> str:
    """Of all names, numbers and sizes: torch does not notice when some are altered."""
    sha256 = hashlib.sha256(json.dumps(config, sort_keys=True).encode())
    for name, weight in sorted(weights.items()):
        sha256.update(f"{name} {tuple(weight.shape)} {weight.dtype}".encode())
        sha256.update(weight.contiguous().numpy().tobytes())
    return sha256.hexdigest()


def _line(error: Exception) -> str:
    """What an error says, in one short line.

    >>> _line(ValueError("first" + chr(10) + "second"))
    'first'
    >>> _line(KeyError())
    'KeyError'
    """
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
