"""A transformer-like encoder whose layers are one module, and a translator whose cell runs once a token."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mix: nn.Module = nn.Linear(width, width)
        self.act = nn.Tanh()

    def forward(self, x: Tensor) -> Tensor:
        return x + self.act(self.mix(self.norm(x)))


class SharedEncoder(nn.Module):
    """(batch, tokens) of integers -> scores of the same length; `layers` holds one layer several times."""

    def __init__(self, depth: int = 4, width: int = 12, words: int = 40) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        one = Layer(width)
        self.layers = nn.ModuleList(one for _ in range(depth))
        self.last = Layer(width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, words: Tensor) -> Tensor:
        x = self.embed(words)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(self.last(x)))


class Reader(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(40, width)
        self.along = nn.GRU(width, width, batch_first=True)

    def forward(self, words: Tensor) -> tuple[Tensor, Tensor]:
        x, state = self.along(self.embed(words))
        return x, state[0]


class Writer(nn.Module):
    """Writes one token after the other, each looking back at what was read."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.cell: nn.Module = nn.GRUCell(width, width)
        self.look = nn.Linear(width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        written = []
        for _ in range(6):
            weights = (x @ self.look(state).unsqueeze(-1)).softmax(1)
            state = self.cell(self.drop((weights * x).sum(1)), state)
            written.append(state)
        return torch.stack(written, dim=1)


class Translator(nn.Module):
    """(batch, tokens) of integers -> (batch, 6, words)."""

    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.reader = Reader(width)
        self.writer = Writer(width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 40)

    def forward(self, words: Tensor) -> Tensor:
        x, state = self.reader(words)
        return self.head(self.norm(self.writer(x, state)))


def words() -> tuple[Tensor]:
    """Returns one batch."""
    return (torch.randint(0, 40, (4, 9), generator=torch.Generator().manual_seed(1)),)
