"""What the distributed wrapper refuses, in real jobs of two ranks: the line that makes, skips or changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

IMPORTS = """\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
"""
LOOP = """\
from common import *
from model import Net
dist.init_process_group("gloo")
rank = dist.get_rank()
{build}
model = DistributedDataParallel(net{options})
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(5):
    loss = model(torch.randn(4, 8), step).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
MODEL = """\
from common import *
class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.first = nn.Linear(8, width)
        self.gate = nn.Linear(width, width)
        self.head = nn.Linear(width, 1)
    def forward(self, x, step):
        h = torch.sigmoid(self.first(x))
{body}
        return self.head(h)
"""

SKIPS = """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2)
        self.norm = nn.LayerNorm(8)
    def forward(self, x):
        return x + self.attention(self.norm(x), x, x)[0]
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))
    def forward(self, x, step):
        for at, block in enumerate(self.blocks):
            if at == rank:
                continue
            x = block(x)
        return x
net = Deep()
"""
OWN_PART = """\
def read(rank):
    rows = list(range(40))[rank::2][: 12 - rank]
    names = sorted(set(rows))
    return len(names), rows
width, rows = read(rank)
net = Net(width)
"""
PROGRAMS = {
    "a layer of a library's parts is skipped": ("", SKIPS, "", ("crash", "unused-parameters", [0, 1], "train.py:18")),
    "mismatch by a part of the data": ("        h = h * self.gate(h)", OWN_PART, "",
                                       ("crash", "parameter-mismatch", [1], "train.py:7")),
    "unused": ("        if step > 9:\n            h = h * self.gate(h)", "net = Net()", "",
               ("crash", "unused-parameters", [0, 1], "model.py:10")),
    "mismatch": ("        h = h * self.gate(h)", "width = 8 + rank\nnet = Net(width)", "",
                 ("crash", "parameter-mismatch", [1], "train.py:5")),
    "in place": ("        g = h * self.gate(h)\n        h += 1\n        h = g + h", "net = Net()", "",
                 ("crash", "inplace-under-ddp", [0, 1], "model.py:11")),
    "static": ("        if step != 1:\n            h = h * self.gate(h)", "net = Net()", ", static_graph=True",
               ("crash", "static-graph-violation", [0, 1], "model.py:10")),
    "view": ("        a = self.gate(h).unbind(1)[0]\n        a.mul_(2)\n        h = h + a[:, None]", "net = Net()", "",
             ("crash", "shared-view", [0, 1], "model.py:11")),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_of_a_wrappers_refusal_is_the_users(watched: Callable[..., Any], name: str) -> None:
    body, build, options, verdict = PROGRAMS[name]
    seen = watched(
        "python", "train.py", ranks=2,
        common_py=IMPORTS, model_py=MODEL.format(body=body), train_py=LOOP.format(build=build, options=options),
    )  # fmt: skip
    assert seen.verdict[:2] == verdict[:2], seen.output
    assert (set(seen.verdict[2]) <= set(verdict[2]), seen.verdict[3]) == (True, verdict[3]), seen.output


TABLE = """\
from common import *
class Block(nn.Sequential):
    def __init__(self, width):
        super().__init__(nn.Linear(width, width), nn.Tanh())
class Head(nn.Module):
    def __init__(self, width, aux):
        super().__init__()
        self.tower = nn.Sequential(Block(width), Block(width))
        self.doubt = nn.Linear(width, 1) if aux else None
        self.out = nn.Linear(width, 1)
    def forward(self, x):
        return self.out(self.tower(x))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList(nn.Sequential(Block(8), Block(8)) for _ in range(3))
        self.heads = nn.ModuleDict({name: Head(8, aux) for name, aux in (("a", False), ("b", True))})
    def forward(self, x, step):
        for stage in self.stages:
            x = stage(x)
        return sum(head(x) for head in self.heads.values())
"""


def test_only_what_the_wrapper_named_is_blamed_where_constructions_do_not_tell_the_paths(
    watched: Callable[..., Any],
) -> None:
    seen = watched(
        "python", "train.py", ranks=2,
        common_py=IMPORTS, model_py=TABLE, train_py=LOOP.format(build="net = Net()", options=""),
    )  # fmt: skip
    assert seen.verdict[:2] == ("crash", "unused-parameters"), seen.output
    title = next(one["title"] for one in seen.report["findings"] if one["code"] == "D601")
    assert title.startswith("Ranks 0, 1: heads.b.doubt"), title
    assert "stages" not in title, title
