"""The bad projects of the autograd rules really fail in torch where the rule says so, and the good ones train."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import nn

CASES = Path(__file__).parent / "cases"


def loaded(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        path.replace("/", "_").removesuffix(".py"), CASES / f"{path[:2]}xx" / path
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def trained(model: nn.Module, *inputs: torch.Tensor) -> None:
    """Runs one forward and its backward."""
    result = model(*inputs)
    parts = [one for one in (result if isinstance(result, (tuple, list)) else [result]) if torch.is_tensor(one)]
    torch.autograd.backward([one.float().sum() for one in parts])


X = (4, 4)
MODIFIED = "modified by an inplace operation"
FAILS = [
    ("A301/bad2/layer.py", "Scaled", (X,), "leaf Variable that requires grad"),
    ("A302/bad/norm.py", "Warmed", (X,), MODIFIED),
    ("A303/bad1/gates.py", "Gate", (X,), MODIFIED),
    ("A303/bad1/gates.py", "Residual", (X,), MODIFIED),
    ("A303/bad2/views.py", "Halves", (X,), "do not allow the output views to be modified inplace"),
    ("A303/bad2/views.py", "Masked", ((2, 4, 3),), MODIFIED),
    ("A304/bad/blocks.py", "Attention", (X,), MODIFIED),
]


@pytest.mark.parametrize(("path", "name", "shapes", "message"), FAILS)
def test_a_bad_module_fails_in_torch_with_the_message_the_rule_names(
    path: str, name: str, shapes: tuple[tuple[int, ...], ...], message: str
) -> None:
    kind = getattr(loaded(path), name)
    model = kind(4) if kind.__init__ is not nn.Module.__init__ and name != "Masked" else kind()
    with pytest.raises(RuntimeError, match=message):
        trained(model, *(torch.randn(shape) for shape in shapes))


def test_a_mask_written_into_the_result_of_softmax_fails() -> None:
    model = loaded("A303/bad1/gates.py").Attention(4)
    with pytest.raises(RuntimeError, match=MODIFIED):
        trained(model, torch.randn(4, 4), torch.eye(4, dtype=torch.bool))


def test_expanded_memory_refuses_to_be_written() -> None:
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        loaded("A303/bad2/views.py").Rows()(torch.randn(1, 4))


def test_a_residual_after_an_activation_in_place_adds_the_activated_values() -> None:
    block = loaded("A304/bad/blocks.py").PreActivation(1)
    x = -torch.ones(1, 1, 3, 3)
    nn.init.zeros_(block.conv.weight)
    nn.init.zeros_(block.conv.bias)
    assert torch.equal(block(x), torch.zeros(1, 1, 3, 3)), "x was -1 everywhere"


def test_a_buffer_that_keeps_its_graph_fails_in_the_second_step() -> None:
    model = loaded("A302/bad/norm.py").Memory(4)
    trained(model, torch.randn(4, 4))
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        trained(model, torch.randn(4, 4))


def test_a_step_between_forward_and_backward_fails() -> None:
    gan = loaded("A308/bad1/gan.py")
    with pytest.raises(RuntimeError, match=MODIFIED):
        gan.main()


@pytest.mark.parametrize("name", ["season", "grid"])
def test_a_buffer_that_was_expanded_cannot_be_written(name: str) -> None:
    buffer = dict(loaded("A305/bad/seasons.py").Seasons(4).named_buffers())[name]
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        buffer.copy_(torch.zeros_like(buffer).contiguous())


def test_the_good_twins_train() -> None:
    trained(loaded("A301/good1/decay.py").Net(), torch.randn(4, 4))
    running = loaded("A302/good/norm.py").Running(4)
    trained(running, torch.randn(4, 4))
    trained(running, torch.randn(4, 4))
    trained(loaded("A303/good/blocks.py").Block(4), torch.randn(4, 4), torch.eye(4, dtype=torch.bool))
    trained(loaded("A304/good/blocks.py").Residual(2, True), torch.randn(2, 2, 3, 3))
    loaded("A308/good1/gan.py").main()


def test_the_good_buffers_can_be_written() -> None:
    for buffer in loaded("A305/good/positions.py").Positions(4, 3).buffers():
        buffer.copy_(torch.zeros(buffer.shape))
