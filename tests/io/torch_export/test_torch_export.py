"""What programs exported from PyTorch come down to, on cases worked out by hand."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import Dim, ExportedProgram
from torch.utils.flop_counter import FlopCounterMode
from torch_cases import exported, touched

from hybridalloc import Problem, UsageError, get_target, solve
from hybridalloc.io.torch_export import from_exported_program
from hybridalloc.io.torch_export.quiet import quiet
from hybridalloc.program import Buffer, Program


class Function(nn.Module):
    """A module of one function of its arguments."""

    def __init__(self, function, **buffers: torch.Tensor) -> None:  # type: ignore[no-untyped-def]
        super().__init__()
        self.function = function
        for name, tensor in buffers.items():
            self.register_buffer(name, tensor)

    def forward(self, *arguments):  # type: ignore[no-untyped-def]
        return self.function(self, *arguments)


def read(exported_program: ExportedProgram) -> Program:
    return from_exported_program(exported_program).program


def named(program: Program, name: str) -> Buffer:
    return program.buffers[program.buffer_index[name]]


def test_parameters_are_weights_and_arguments_are_not() -> None:
    program = read(exported(nn.Linear(8, 4), torch.zeros(2, 8)))
    assert [(x.name, x.size, x.cross_program) for x in program.buffers] == [
        ("weight", 128, True),
        ("bias", 16, True),
        ("input", 64, False),
        ("linear/addmm", 32, True),
    ]
    assert [x.is_input for x in program.buffers] == [True, True, True, False]
    assert [x.is_output for x in program.buffers] == [False, False, False, True]
    (step,) = program.instructions
    assert (step.name, step.kind) == ("linear/addmm", "aten.addmm")
    assert touched(program, step) == [
        ("bias", 16, 0),
        ("input", 64, 0),
        ("weight", 128, 0),
        ("linear/addmm", 0, 32),
    ]


def test_compute_times_are_pytorchs_own_counts_at_the_targets_peak_rate() -> None:
    module = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(8 * 36, 5))
    program_of = exported(module, torch.zeros(2, 3, 8, 8))
    program = read(program_of)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(torch.zeros(2, 3, 8, 8))
    seconds = sum(x.compute_s for x in program.instructions)
    rate = get_target("tpu-v4i").flops_per_second
    assert seconds * rate == pytest.approx(counter.get_total_flops())


def test_attention_on_a_cpu_counts_as_it_does_elsewhere() -> None:
    q = torch.zeros(1, 2, 16, 8)
    attend = nn.functional.scaled_dot_product_attention
    program = read(exported(Function(lambda _, x: attend(x, x, x)), q))
    rate = get_target("tpu-v4i").flops_per_second
    seconds = sum(x.compute_s for x in program.instructions)
    assert seconds * rate == pytest.approx(2 * 2 * (2 * 16 * 16 * 8))


def test_views_share_storage_and_are_no_instructions() -> None:
    def function(_: nn.Module, x: torch.Tensor) -> torch.Tensor:
        return (x + 1).view(4, 2).t()[1:].exp()

    program = read(exported(Function(function), torch.zeros(8)))
    assert [x.name for x in program.instructions] == ["add", "exp"]
    assert touched(program, program.instructions[1]) == [("add", 16, 0), ("exp", 0, 16)]


def test_an_operator_in_place_reads_and_writes_the_storage_of_its_operand() -> None:
    def function(_: nn.Module, x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        y[:2].mul_(2)
        return y

    program = read(exported(Function(function), torch.zeros(8)))
    assert touched(program, program.instructions[1]) == [("add", 8, 8)]
    assert not program.instructions[1].accesses[0].whole


def test_what_an_operator_repeats_is_read_once() -> None:
    program = read(exported(Function(lambda _, x, y: x + y), *map(torch.zeros, (1, 8))))
    assert touched(program, program.instructions[0])[0][1:] == (4, 0)


def test_a_cache_is_written_where_the_new_token_goes() -> None:
    def function(module: nn.Module, at: torch.Tensor, new: torch.Tensor):  # type: ignore[no-untyped-def]
        cache = module.cache
        assert isinstance(cache, torch.Tensor)
        cache.index_copy_(0, at, new)
        return cache.sum(0)

    module = Function(function, cache=torch.zeros(64, 4))
    program = read(exported(module, torch.tensor([3]), torch.zeros(1, 4)))
    cache = named(program, "cache")
    assert (cache.is_input, cache.is_output, cache.cross_program) == (True, True, False)
    first = touched(program, program.instructions[0])
    assert [x[1:] for x in first] == [(0, 16), (8, 0), (16, 0)]
    assert first[0][0] == "cache"


def test_an_argument_that_is_written_is_an_output_too() -> None:
    program = read(exported(Function(lambda _, x: x.add_(1) * 2), torch.zeros(4)))
    donated = program.buffers[0]
    assert (donated.is_input, donated.is_output) == (True, True)


def test_a_functional_graph_copies_what_it_changes_back_at_its_end() -> None:
    def function(module: nn.Module, x: torch.Tensor) -> torch.Tensor:
        state = module.state
        assert isinstance(state, torch.Tensor)
        state.add_(x)
        return state * 2

    module = Function(function, state=torch.zeros(4))
    with quiet():
        functional = exported(module, torch.zeros(4)).run_decompositions({})
    program = read(functional)
    last = program.instructions[-1]
    assert last.name == "state/copy_"
    assert touched(program, last) == [("state", 0, 16), ("add", 16, 0)]
    assert last.accesses[0].whole
    assert named(program, "state").is_output


def test_statistics_that_training_updates_are_written() -> None:
    program = read(exported(nn.BatchNorm1d(4).train(), torch.zeros(3, 4)))
    written = {x.name for x in program.buffers if x.is_input and x.is_output}
    assert written == {"running_mean", "running_var", "num_batches_tracked"}
    calm = read(exported(nn.BatchNorm1d(4).eval(), torch.zeros(3, 4)))
    assert not {x.name for x in calm.buffers if x.is_input and x.is_output}


def test_a_table_is_read_where_it_is_looked_up() -> None:
    program = read(exported(nn.Embedding(1000, 4), torch.tensor([1, 2])))
    assert touched(program, program.instructions[0]) == [
        ("weight", 32, 0),
        ("input", 16, 0),
        ("embedding", 0, 32),
    ]


def test_memory_that_is_only_allocated_is_written_free_of_charge() -> None:
    def function(_: nn.Module, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty(8)
        y[:4].copy_(x)
        y[4:].fill_(1)
        return y

    program = read(exported(Function(function), torch.zeros(4)))
    empty, copy, fill = program.instructions
    assert touched(program, empty) == [("empty", 0, 0)]
    assert empty.accesses[0].whole
    assert touched(program, copy)[0] == ("empty", 0, 16)
    assert touched(program, fill)[0] == ("empty", 0, 16)


def test_tied_weights_are_one_buffer() -> None:
    tied = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    tied[1].weight = tied[0].weight
    program = read(exported(tied, torch.zeros(4)))
    assert sum(x.size for x in program.buffers if x.cross_program and x.is_input) == 64


def test_regions_without_gradients_run_as_the_rest() -> None:
    def function(_: nn.Module, x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        with torch.no_grad():
            z = y + 1
        return z - y

    leaf = torch.zeros(4, requires_grad=True)
    with quiet():
        program_of = torch.export.export(Function(function), (leaf,))
    assert [x.kind for x in read(program_of).instructions] == [
        "aten.mul",
        "aten.add",
        "aten.sub",
    ]


def test_a_model_without_data_can_be_exported_and_read() -> None:
    mode = FakeTensorMode()
    with mode:
        module, x = nn.Linear(2**15, 2**15), torch.zeros(1, 2**15)
    program = read(exported(module, x))
    assert named(program, "weight").size == 4 * 2**30


def test_names_are_kept_whatever_they_are() -> None:
    names = ("<b>&amp;", "重み", "w" * 300, "two\nlines")
    buffers = {name: torch.ones(4) for name in names}

    def function(module: nn.Module, x: torch.Tensor) -> torch.Tensor:
        for name in names:
            x = x + module.get_buffer(name)
        return x

    problem = from_exported_program(
        exported(Function(function, **buffers), torch.zeros(4))
    )
    assert {x.name for x in problem.program.buffers} >= set(names)
    assert solve(problem, "greedy", time_limit=5).map is not None


def test_the_same_export_gives_the_same_program() -> None:
    module = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 4))
    program_of = exported(module, torch.zeros(2, 4))
    assert read(program_of) == read(program_of)


def test_a_target_is_given_by_name_or_as_it_is() -> None:
    program_of = exported(nn.Linear(4, 4), torch.zeros(4))
    by_name = from_exported_program(program_of, "tpu-v4", name="layer")
    target = get_target("tpu-v4")
    assert by_name == from_exported_program(program_of, target, name="layer")
    assert isinstance(by_name, Problem)
    assert (by_name.program.name, by_name.target) == ("layer", target)
    with pytest.raises(UsageError, match="unknown target 'tpu'"):
        from_exported_program(program_of, "tpu")


def test_a_size_that_is_not_known_is_refused() -> None:
    sizes = {"input": {0: Dim("batch")}}
    module, arguments = nn.Linear(4, 4), (torch.zeros(2, 4),)
    with quiet():
        program_of = torch.export.export(module, arguments, dynamic_shapes=sizes)
    with pytest.raises(ValueError, match=r"node input: size .* is not a number"):
        read(program_of)


def test_a_size_that_depends_on_data_is_refused() -> None:
    program_of = exported(Function(lambda _, x: x.nonzero()), torch.zeros(4))
    with pytest.raises(ValueError, match="node nonzero: size"):
        read(program_of)


def test_control_flow_is_refused() -> None:
    def function(_: nn.Module, x: torch.Tensor):  # type: ignore[no-untyped-def]
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

    program_of = exported(Function(function), torch.zeros(4))
    words = r"node cond \(cond\): .*control flow"
    with pytest.raises(ValueError, match=words) as caught:
        read(program_of)
    assert "\n" not in str(caught.value)


def test_a_program_that_touches_no_memory_is_refused() -> None:
    program_of = exported(Function(lambda _, x: x.view(2, 2)), torch.zeros(4))
    with pytest.raises(ValueError, match="at least one operator"):
        read(program_of)


def test_what_is_no_exported_program_is_refused() -> None:
    with pytest.raises(UsageError, match=r"torch\.export\.export"):
        from_exported_program(nn.Linear(4, 4))  # type: ignore[arg-type]
