"""Small models, healthy ones and faulty twins, and all kinds of inputs."""

import ctypes
import os
import sys

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, how=""):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)
        self.how = how

    def forward(self, x):
        if self.how == "crash":
            ctypes.string_at(0)
        if self.how == "raise":
            raise ValueError("block 1 of 3 cannot go on")
        if self.how == "leave":
            raise SystemExit(3)
        if self.how == "nan on rank 1" and os.environ["RANK"] == "1":
            x = x * float("nan")
        if self.how == "memory":
            torch.zeros(200_000_000)
        return x + self.second(torch.relu(self.first(x)))


class Net(nn.Module):
    def __init__(self, how=""):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block(how), Block()])
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def crash():
    return Net("crash")


def raises():
    return Net("raise")


def leaves():
    return Net("leave")


def nan():
    return Net("nan on rank 1")


def memory():
    return Net("memory")


class RootOfZero(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Linear(8, 8)

    def forward(self, x):
        return torch.sqrt(self.scale(x) * 0)


class RootInside(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(nn.Linear(8, 8), RootOfZero(), nn.Linear(8, 8), nn.ReLU())

    def forward(self, x):
        return x + self.blocks(x)


class Unused(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        return self.used(x)


class WithoutParameters(nn.Module):
    def forward(self, x):
        return x


class Keywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Linear(8, 8)

    def forward(self, x, mask):
        return {"loss": (self.scale(x) * mask).sum(), "mask": mask}


def fails():
    raise KeyError("width")


def not_a_model():
    return 3


def lazy():
    return nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.Linear(8, 2))


def sparse():
    return nn.Embedding(8, 8, sparse=True)


def batch():
    return torch.randn(4, 8)


def pair():
    return torch.randn(4, 8), torch.randn(4, 8)


def numbers():
    return torch.randint(0, 8, (4,))


def keywords():
    return {"x": torch.randn(4, 8), "mask": torch.ones(8)}


def generator():
    yield torch.randn(4, 8)
    yield torch.randn(2, 8)


class Items(torch.utils.data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return torch.full((8,), float(index))


class CrashInWorker(Items):
    def __getitem__(self, index):
        if torch.utils.data.get_worker_info() is not None:
            raise OSError("the disk has gone")
        return super().__getitem__(index)


loader = torch.utils.data.DataLoader(Items(), batch_size=2, num_workers=3)
crashing_loader = torch.utils.data.DataLoader(CrashInWorker(), batch_size=2)


class Detached(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Linear(8, 8)

    def forward(self, x):
        return self.scale(x).detach()


class Left(nn.Module):
    """DDP is told to leave a parameter alone that each rank has drawn for itself."""

    def __init__(self):
        super().__init__()
        self.shared, self.own = nn.Linear(8, 8), nn.Parameter(torch.zeros(8) + float(os.environ["RANK"]))
        self._ddp_params_and_buffers_to_ignore = ["own"]

    def forward(self, x):
        return self.shared(x) * self.own


class LoudError(Exception):
    def __str__(self):
        raise TypeError("no text")


def loud():
    raise LoudError


def deep(depth=0):
    return deep(depth + 1)


def reads_the_command_line():
    return Net() if sys.argv == [__file__] else None


def closes_its_output():
    sys.stdout.close()
    return Net()
