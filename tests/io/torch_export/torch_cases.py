"""Small modules, and real ones at their real sizes, to export from PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram

from hybridalloc.io.torch_export.quiet import quiet
from hybridalloc.program import Instruction, Program


def exported(module: nn.Module, *arguments: Any) -> ExportedProgram:
    """A module exported for arguments; what PyTorch warns of itself is passed over."""
    with quiet(), torch.no_grad():
        return torch.export.export(module, arguments)


def touched(program: Program, instruction: Instruction) -> list[tuple[str, int, int]]:
    """For each access of an instruction: the buffer's name, bytes read and written."""
    return [
        (program.buffers[x.buffer].name, x.read_bytes, x.write_bytes)
        for x in instruction.accesses
    ]


def total_bytes(tensors: Sequence[torch.Tensor]) -> int:
    """The bytes of all storages of tensors, each counted once."""
    storages = {x.untyped_storage()._cdata: x.untyped_storage() for x in tensors}
    return sum(storage.nbytes() for storage in storages.values())


class Bottleneck(nn.Module):
    """Three convolutions beside a shortcut, as in He et al. 2015, figure 5."""

    def __init__(self, inside: int, width: int, stride: int) -> None:
        super().__init__()
        outside = 4 * width
        self.conv1 = nn.Conv2d(inside, width, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outside, 1, bias=False)
        self.norm3 = nn.BatchNorm2d(outside)
        self.shortcut = nn.Sequential()
        if inside != outside:
            self.shortcut.append(nn.Conv2d(inside, outside, 1, stride, bias=False))
            self.shortcut.append(nn.BatchNorm2d(outside))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm1(self.conv1(x)).relu_()
        y = self.norm2(self.conv2(y)).relu_()
        y = self.norm3(self.conv3(y))
        y += self.shortcut(x)
        last: torch.Tensor = y.relu_()
        return last


def resnet50() -> nn.Module:
    """ResNet-50, with in-place activations as in torchvision."""
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 7, 2, 3, bias=False)]
    layers += [nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inside = 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for number in range(count):
            layers.append(Bottleneck(inside, width, stride if number == 0 else 1))
            inside = 4 * width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000)]
    return nn.Sequential(*layers).eval()


class DecoderStep(nn.Module):
    """One step of GPT-2 from the ``transformers`` library, with its static cache."""

    def __init__(self, length: int) -> None:
        library: Any = import_module("transformers")  # may be missing
        super().__init__()
        config = library.GPT2Config()
        self.model = library.GPT2LMHeadModel(config)
        self.cache = library.StaticCache(config=config, max_cache_len=length)
        heads, width = config.n_head, config.n_embd // config.n_head
        self.cache.early_initialization(1, heads, width, torch.float32, "cpu")
        for number, layer in enumerate(self.cache.layers):
            self.register_buffer(f"key_{number}", layer.keys)
            self.register_buffer(f"value_{number}", layer.values)

    def forward(self, token: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        for number, layer in enumerate(self.cache.layers):
            layer.keys = getattr(self, f"key_{number}")
            layer.values = getattr(self, f"value_{number}")
        logits: torch.Tensor = self.model(
            input_ids=token,
            position_ids=position[None],
            past_key_values=self.cache,
            cache_position=position,
        ).logits
        return logits
