"""Real models: their bytes, peaks and operations are those that PyTorch measures."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
import torch
from meter import Meter
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from torch_cases import DecoderStep, exported, resnet50, total_bytes

from hybridalloc import solve
from hybridalloc.io.torch_export import from_exported_program
from hybridalloc.io.torch_export.quiet import quiet
from hybridalloc.liveness import live_bytes
from hybridalloc.program import Program

Case = tuple[nn.Module, tuple[Any, ...]]


def residual() -> Case:
    """ResNet-50 on eight images."""
    return resnet50(), (torch.zeros(8, 3, 224, 224),)


def encoder() -> Case:
    """BERT's base size on eight sequences of 128."""
    transformers = pytest.importorskip("transformers")
    with uninitialised():
        module = transformers.BertModel(transformers.BertConfig()).eval()
    return module, (torch.zeros(8, 128, dtype=torch.long),)


def decoder() -> Case:
    """A step of GPT-2's smallest size with a cache of 1024 tokens."""
    pytest.importorskip("transformers")
    with uninitialised():
        module = DecoderStep(1024).eval()
    return module, (torch.zeros(1, 1, dtype=torch.long), torch.tensor([512]))


def uninitialised() -> Any:
    """Weights stay what they are in memory: no test looks at them."""
    try:
        from transformers.initialization import no_init_weights
    except ImportError:
        return nullcontext()
    return no_init_weights()


def peak_beside_inputs(program: Program) -> int:
    """The most bytes alive at one time, without inputs, which live throughout."""
    sizes = (replace(x, size=0 if x.is_input else x.size) for x in program.buffers)
    return int(live_bytes(replace(program, buffers=tuple(sizes))).max())


@pytest.mark.parametrize(
    ("case", "held", "uncounted"),
    [
        (residual, 8 * 64 * 56 * 56 * 4, 0),
        (encoder, 2 * 8 * 128 * 768 * 4, 12 * 4 * 8 * 128 * 128 * 768),
        (decoder, 0, 12 * 4 * 1024 * 768),
    ],
    ids=["resnet50", "bert", "gpt2"],
)
def test_bytes_peak_and_operations_are_what_pytorch_measures(
    case: Callable[[], Case], held: int, uncounted: int
) -> None:
    """``held``: arguments that Python's frames hold while the module itself runs.

    ``uncounted``: operations of attention, which PyTorch does not count on a CPU.
    """
    module, arguments = case()
    program_of = exported(module, *arguments)
    problem = from_exported_program(program_of)
    program = problem.program
    inputs = [*module.parameters(), *module.buffers(), *arguments]
    known = [*inputs, *program_of.constants.values()]
    counter = FlopCounterMode(display=False)
    with quiet(), torch.no_grad():
        with Meter(known) as graph:
            program_of.module()(*arguments)
        with Meter(known) as whole, counter:
            module(*arguments)
    given = sum(x.size for x in program.buffers if x.is_input)
    assert given == total_bytes(known)
    assert sum(x.size for x in program.buffers) - given == graph.made
    assert peak_beside_inputs(program) == graph.peak
    assert graph.peak + held == pytest.approx(whole.peak, rel=0.01)
    assert graph.made == pytest.approx(whole.made, rel=0.01)
    operations = sum(x.compute_s for x in program.instructions)
    operations *= problem.target.flops_per_second
    assert operations == pytest.approx(counter.get_total_flops() + uncounted)
    assert solve(problem, "greedy", time_limit=30).map is not None


def test_a_steps_caches_are_written_in_place() -> None:
    module, arguments = decoder()
    program = from_exported_program(exported(module, *arguments)).program
    caches = [x for x in program.buffers if x.name.startswith(("key_", "value_"))]
    assert len(caches) == 2 * 12
    assert {x.size for x in caches} == {12 * 1024 * 64 * 4}
    assert all(x.is_input and x.is_output and not x.cross_program for x in caches)
    written = {
        program.buffers[x.buffer].name: x.write_bytes
        for instruction in program.instructions
        for x in instruction.accesses
        if x.writes
    }
    assert {written[x.name] for x in caches} == {12 * 64 * 4}
