"""Jobs that train more than once, one program after the other: each training is looked at, whoever launched it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PRETRAIN = """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 2)))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(20):
    loss = model(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
if dist.get_rank() == 0:
    torch.save({"model": model{module}.state_dict()}, "pretrained.pt")
dist.barrier()
dist.destroy_process_group()
"""
FINETUNE = """\
import torch
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 2))
read = torch.load("pretrained.pt")["model"]
own = model.state_dict()
own.update({name: value for name, value in read.items() if name in own})
model.load_state_dict(own)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(20):
    loss = model(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.save(model.state_dict(), "tuned.pt")
"""
LAUNCH = "torchrun --standalone --nproc-per-node 2 {}\n"
WRONG = ("silent-wrong", "checkpoint-not-loaded", [0], "finetune.py:7")
WELL = ("ok", "none", [], None)


def launched(program: str) -> str:
    return LAUNCH.format(program)


@pytest.mark.parametrize(
    ("module", "script", "verdict"),
    [
        ("", launched("pretrain.py") + "python finetune.py\n", WRONG),
        (".module", launched("pretrain.py") + "python finetune.py\n", WELL),
        ("", launched("pretrain.py") + "python finetune.py\n" + launched("pretrain.py"), WRONG),
    ],
    ids=["behind a launch", "all is well", "between two launches"],
)
def test_what_a_plain_program_trained_wrongly_before_or_behind_a_launch_is_told(
    watched: Callable[..., Any], module: str, script: str, verdict: tuple[str, str, list[int], str | None]
) -> None:
    done = watched(
        "bash", "run.sh", run_sh="set -e\n" + script,
        pretrain_py=PRETRAIN.replace("{module}", module), finetune_py=FINETUNE,
    )  # fmt: skip
    assert done.verdict == verdict
