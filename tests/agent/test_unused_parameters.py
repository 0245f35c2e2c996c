"""The names behind the numbers in DDP's message, whatever order modules were made in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """
    import tempfile

    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            extra = nn.Linear(4, 4)  # made first, and the last of the parameters
            self.used = nn.Linear(4, 4)
            self.frozen = nn.Linear(4, 4).requires_grad_(False)
            self.extra = extra

        def forward(self, x):
            return self.USED(self.used(x))


    store = tempfile.mktemp()
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=0, world_size=1)
    model = DistributedDataParallel(Net())
    for _ in range(2):
        model(torch.randn(2, 4)).sum().backward()
    dist.destroy_process_group()
"""


@pytest.fixture
def watch(watch_warm):
    """What these programs do is asked, not how they start."""
    return watch_warm


@pytest.mark.parametrize(("used", "told"), [("frozen", ["extra.weight, extra.bias"]), ("extra", [])])
def test_parameters_that_got_no_gradient_are_named(watch: Callable[..., Any], used: str, told: list[str]) -> None:
    watched = watch(PROGRAM.replace("USED", used))
    (agent,) = watched.record.agents
    assert [event.text for event in agent.events if event.kind == "unused-parameters"] == told
    assert (watched.returncode != 0) == bool(told)
