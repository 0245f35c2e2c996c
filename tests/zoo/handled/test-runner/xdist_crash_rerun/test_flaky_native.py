"""The native kernel sometimes takes its worker with it (issue 231): one rerun is allowed."""
import ctypes
import pathlib

import pytest
import torch

MARK = pathlib.Path(__file__).parent / ".crashed_once"


@pytest.mark.flaky(reruns=1)
def test_native_kernel():
    if not MARK.exists():
        MARK.touch()
        ctypes.string_at(0)
    assert torch.arange(4).sum() == 6


@pytest.mark.parametrize("width", [2, 4, 8])
def test_step_lowers_loss(width):
    torch.manual_seed(width)
    model = torch.nn.Linear(width, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    x = torch.randn(32, width)
    losses = []
    for _ in range(5):
        loss = (model(x) - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
