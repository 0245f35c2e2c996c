"""Models whose third block fails in one way each."""

import ctypes
import os
import signal
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn


class Block(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.linear = nn.Linear(9 if how == "wrong_size" else 8, 8)
        self.how = how
        if how == "constructor":
            ctypes.string_at(0)

    def forward(self, x):
        second = os.environ.get("RANK") == "1"
        if self.how == "segfault":
            ctypes.string_at(0)
        if self.how == "floating_point":
            os.kill(os.getpid(), signal.SIGFPE)
        if self.how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "leaves":
            os._exit(0)
        if self.how == "raises_on_one_rank" and second:
            raise ValueError(f"bad input of process {os.getpid()}")
        if self.how == "calls_on_one_rank" and second:
            dist.all_reduce(torch.zeros(3))
        if self.how == "waits":
            time.sleep(1000)
        if self.how == "not_a_number":
            x = x / 0
        if self.how == "drifts_apart":
            self.linear.weight.data.add_(float(os.environ["RANK"]))
        if self.how == "takes_memory":
            torch.ones(1 << 31, dtype=torch.uint8)
        if self.how == "every_other_time":
            count = Path("count.txt")
            count.write_text(str(1 + int(count.read_text() if count.exists() else 0)))
            if int(count.read_text()) % 2 == 0:
                ctypes.string_at(0)
        return torch.relu(self.linear(x))


class Net(nn.Module):
    def __init__(self, how=""):
        super().__init__()
        self.blocks = nn.ModuleList([Block(how if number == 2 else "") for number in range(4)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def batch():
    return torch.randn(4, 8)


def __getattr__(how):
    if how.startswith("__"):
        raise AttributeError(how)
    return lambda: Net(how)
