"""Small models without a fault, close to those that would be: nothing above a note may be said of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

WIDTH, WORDS, LENGTH = 8, 20, 6


def vectors() -> Tensor:
    return torch.randn(4, WIDTH)


def images() -> Tensor:
    return torch.randn(2, 3, 16, 16)


def words() -> dict[str, Tensor]:
    tokens = torch.randint(0, WORDS, (3, LENGTH))
    return {"tokens": tokens, "labels": tokens.roll(-1, 1)}


def sequences() -> Tensor:
    return torch.randn(3, LENGTH, WIDTH)


def lengths_vary() -> Iterator[Tensor]:
    length = 2
    while True:
        length += 1
        yield torch.randn(3, length, WIDTH)


class Block(nn.Module):
    """A residual block as torchvision has it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.blocks = nn.Sequential(Block(8), Block(8))
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(functional.dropout(self.blocks(self.stem(x)).mean((2, 3)), 0.1, self.training, inplace=True))


@dataclass
class Output:
    loss: Tensor | None
    logits: Tensor


class Transformer(nn.Module):
    """A language model whose head is its embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 2, 2 * WIDTH, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.embedding.weight  # tied
        self.register_buffer("mask", torch.triu(torch.full((LENGTH, LENGTH), -math.inf), 1), persistent=False)
        self.register_buffer("positions", torch.arange(LENGTH).expand((1, -1)), persistent=False)

    def forward(self, tokens: Tensor, labels: Tensor | None = None) -> Output:
        x = self.embedding(tokens) * math.sqrt(WIDTH)
        logits = self.head(self.layers(x, mask=self.mask))
        loss = functional.cross_entropy(logits.flatten(0, 1), labels.flatten()) if labels is not None else None
        return Output(loss, logits)


class Lstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * WIDTH, 1)

    def forward(self, x: Tensor) -> Tensor:
        self.lstm.flatten_parameters()
        return self.head(self.lstm(x)[0])


class KeyValueCache(nn.Module):
    """Attention that keeps keys and values in buffers, without their graph."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.register_buffer("keys", torch.zeros(3, 2 * LENGTH, WIDTH), persistent=False)
        self.register_buffer("values", torch.zeros(3, 2 * LENGTH, WIDTH), persistent=False)
        self.register_buffer("position", torch.zeros((), dtype=torch.long), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).chunk(3, -1)
        with torch.no_grad():
            self.keys[:, :LENGTH] = k
            self.values[:, :LENGTH].copy_(v)
            self.position.add_(1)
        return functional.scaled_dot_product_attention(q, k, v)


class MovingTeacher(nn.Module):
    """A teacher that follows the student, moved in forward, as MoCo does."""

    def __init__(self) -> None:
        super().__init__()
        self.student, self.teacher = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.teacher.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            for mine, others in zip(self.teacher.parameters(), self.student.parameters(), strict=True):
                mine.mul_(0.99).add_(others, alpha=0.01)
            target = self.teacher(x)
        return functional.mse_loss(self.student(x), target)


class Clamped(nn.Module):
    """Keeps its weights in a range, as EEGNet does."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            self.linear.weight.clamp_(-0.2, 0.2)
        return self.linear(x)


class Pair(NamedTuple):
    real: Tensor
    score: Tensor


class Spectral(nn.Module):
    """Spectral norm moves its vectors in forward; complex output; checkpointed; a list of losses."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.utils.parametrizations.spectral_norm(nn.Linear(WIDTH, WIDTH))
        self.second = nn.utils.parametrizations.weight_norm(nn.Linear(WIDTH, WIDTH))
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))
        self.register_buffer("scale", torch.tensor(2.0, dtype=torch.float64))

    def forward(self, x: Tensor) -> Pair:
        self.calls += 1
        y = checkpoint(self.second, functional.elu_(self.first(x)), use_reentrant=False)
        return Pair(torch.fft.rfft(y), (y * self.scale).mean())


class Recurrent(nn.Module):
    """Calls its cell as often as the sequence is long."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        state = x.new_zeros(x.shape[0], WIDTH)
        for moment in x.unbind(1):
            state = self.cell(moment, state)
        return state


class Lazy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.LazyLinear(WIDTH), nn.SiLU(inplace=True), nn.LazyLinear(2))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class MaxNorm(nn.Module):
    """An embedding that keeps its rows short, as its documentation says, in place."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH, max_norm=1.0)

    def forward(self, tokens: Tensor, labels: Tensor) -> Tensor:
        return self.embedding(tokens)


class MixtureGate(nn.Module):
    """Keeps its loss for the training loop, which adds and forgets it."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.experts = nn.Linear(WIDTH, 2), nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        share = self.gate(x).softmax(-1)
        self.balance = (share.mean(0) ** 2).sum()
        return sum(share[:, i : i + 1] * expert(x) for i, expert in enumerate(self.experts))


class NeedsNothing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(3, 3, dtype=torch.float64))

    def forward(self) -> Tensor:
        return self.table.sum()


class Jacobian(nn.Module):
    """Derives its layer by torch.func, which suffers no hooks on saved tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        def energy(row: Tensor) -> Tensor:
            return torch.tanh(self.linear(row)).sum()

        return torch.func.vmap(torch.func.grad(energy))(x)
