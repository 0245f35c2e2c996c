"""Small models with one fault each, and their batches; the line of the fault carries its name in a comment."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import torch
from torch import Tensor, nn

WIDTH = 8


def batch() -> Tensor:
    return torch.randn(4, WIDTH)


def long_and_short() -> Iterator[Tensor]:
    for sign in itertools.cycle((1.0, -1.0)):
        yield torch.full((4, WIDTH), sign)


class ShrinkingWeight(nn.Module):
    """Its forward changes the weight, so that evaluating it changes it too."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        self.linear.weight.data.mul_(0.99)  # here: shrinks
        return self.linear(x)


class WeightFromBatch(nn.Module):
    """Initialises its scale from the first batch it sees, which is another one on each rank."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            self.scale.copy_(x.std(0))  # here: from batch
        return x * self.scale


class BufferNeededByBackward(nn.Module):
    """Multiplies by a buffer and then changes it, before backward has read it."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("level", torch.ones(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        y = self.linear(x) * self.level  # here: saves
        self.level.mul_(0.9).add_(y.detach().mean(0), alpha=0.1)  # here: overwrites
        return y


class ActivationNeededByBackward(nn.Module):
    """Adds in place to what sigmoid's backward needs."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Sigmoid())

    def forward(self, x: Tensor) -> Tensor:
        y = self.inner(x)
        y += 1  # here: adds
        return y


class ViewAsParameter(nn.Module):
    """Registers a part of one parameter as another one."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(16, WIDTH))
        self.first_rows = nn.Parameter(self.table.data[:4])  # here: view

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.table.T + (x @ self.first_rows.T).sum()


class ExpandedBuffer(nn.Module):
    """Keeps an expanded view as a buffer, into which nothing can be broadcast or loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("offset", torch.zeros(1).expand(WIDTH))  # here: expanded

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) + self.offset


class UnusedHead(nn.Module):
    """Has a head that forward never calls."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(WIDTH, WIDTH)
        self.auxiliary_head = nn.Linear(WIDTH, 2)  # here: unused

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x)


class CalledTwice(nn.Module):
    """Encodes both halves with one encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(WIDTH // 2, WIDTH), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        left, right = x.chunk(2, dim=-1)
        first = self.encoder(left)  # here: once
        return first - self.encoder(right)  # here: again


class Float64Buffer(nn.Module):
    """Took its window from numpy, in float64: all behind it is computed in float64."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("window", torch.hann_window(WIDTH, dtype=torch.float64))  # here: float64

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) * self.window


class ContentDecides(nn.Module):
    """Takes one of two branches by what is in the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.high = nn.Linear(WIDTH, WIDTH)
        self.low = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        if x.mean() > 0:
            return self.high(x)  # here: high
        return self.low(x)  # here: low


class HiddenKept(nn.Module):
    """Carries its hidden state, graph and all, into the next step."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(WIDTH, WIDTH)
        self.hidden = None

    def forward(self, x: Tensor) -> Tensor:
        self.hidden = self.cell(x, self.hidden)  # here: kept
        return self.hidden


class NormalisesTheBatch(nn.Module):
    """Normalises what the caller handed over, where it lies."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        x.sub_(x.mean()).div_(x.std() + 1)  # here: normalised
        return self.linear(x)


class ReplacesParameter(nn.Module):
    """Makes a new parameter in forward: the optimizer and DDP hold the old one."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        self.gain = nn.Parameter(self.gain.detach().clamp(0, 1))  # here: replaced
        return x * self.gain


class WrongShape(nn.Module):
    """Its second layer does not fit the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(WIDTH, 5), nn.Linear(6, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x))  # here: shape


class NothingToTrain(nn.Module):
    """Detaches what it returns."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x).detach()


class DataTie(nn.Module):
    """Ties two layers by their data: the first .to() that copies parts them."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, WIDTH)  # here: data tie
        self.head.weight.data = self.embedding.weight.data

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.embedding(x))


class Crashes(nn.Module):
    """Dies of SIGSEGV in a layer below."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(WIDTH, WIDTH), ReadsNull())

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class ReadsNull(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        import ctypes

        ctypes.string_at(0)  # here: segfault
        return x


class Hangs(nn.Module):
    """Never comes back from a layer below."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(WIDTH, WIDTH), Waits())

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Waits(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        while True:
            time.sleep(0.05)  # here: hang


class Leaves(nn.Module):
    """Ends the process from inside."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        import os

        os._exit(0)


def two_tensors() -> tuple[Tensor, Tensor]:
    return batch(), batch()


def no_batch() -> Tensor:
    raise ValueError("no data here")  # here: no batch


def raises() -> nn.Module:
    sizes: dict[str, int] = {}
    return nn.Linear(sizes["width"], 1)  # here: factory


def needs_arguments(width: int, depth: int = 1) -> nn.Module:
    return nn.Linear(width, depth)


def no_module() -> int:
    return 7


def talkative() -> nn.Module:
    print("building on stdout {not json")
    return Talks()


class Talks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        print("forward on stdout")
        return self.linear(x)
