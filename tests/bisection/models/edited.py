"""Models of many kinds, and faults planted in them, for edits of a try."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional


class Transformer(nn.Module):
    """Tied weights, torch's own encoder, keywords, a dict with None in it."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 1)
        self.head = nn.Linear(16, 50, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, *, ids: Tensor, mask: Tensor) -> dict[str, Tensor | None]:
        hidden = self.encoder(self.embed(ids), src_key_padding_mask=mask)
        return {"logits": self.head(hidden), "cache": None}


def tokens() -> dict[str, Tensor]:
    return {"ids": torch.randint(0, 50, (4, 7)), "mask": torch.zeros(4, 7, dtype=torch.bool)}


class Down(nn.Module):
    def __init__(self, inside: int, outside: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inside, outside, 3, padding=1)
        self.norm = nn.BatchNorm2d(outside)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self.act(self.norm(self.conv(x)))
        return functional.max_pool2d(y, 2), y


class UNet(nn.Module):
    """Skip connections through lists of modules."""

    def __init__(self) -> None:
        super().__init__()
        self.downs = nn.ModuleList([Down(3, 8), Down(8, 16)])
        self.middle = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(inplace=True))
        self.ups = nn.ModuleList([nn.ConvTranspose2d(16, 16, 2, 2), nn.ConvTranspose2d(32, 8, 2, 2)])

    def forward(self, x: Tensor) -> Tensor:
        skips = []
        for down in self.downs:
            x, skip = down(x)
            skips.append(skip)
        x = self.middle(x)
        for up in self.ups:
            x = torch.cat([up(x), skips.pop()], 1)
        return x


def images() -> Tensor:
    return torch.randn(4, 3, 16, 16)


class Router(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(16, 4)

    def forward(self, x: Tensor) -> Any:
        chances = self.gate(x).softmax(-1)
        self.balance = (chances.mean(0) ** 2).sum()
        return chances.topk(2, -1)


class Experts(nn.Module):
    """Routing that depends on the data, and a loss left in an attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(8, 16)
        self.router = Router()
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)) for _ in range(4))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        flat = self.enter(x).flatten(0, 1)
        weights, chosen = self.router(flat)
        out = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            token, slot = (chosen == number).nonzero(as_tuple=True)
            if token.numel():
                out.index_add_(0, token, expert(flat[token]) * weights[token, slot, None])
        return out.view(*x.shape[:2], -1), self.router.balance


def sequences() -> Tensor:
    return torch.randn(4, 5, 8)


class Masked(NamedTuple):
    x: Tensor
    mask: Tensor | None


@dataclass
class Found:
    hidden: Tensor
    indices: Tensor
    extra: dict[str, Any]


class Masks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, *, x: Tensor, mask: Tensor | None = None) -> Masked:
        return Masked(self.linear(x), mask)


class Finds(nn.Module):
    """Uses a child's weight without calling it."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 8, bias=False)

    def forward(self, given: Masked) -> Found:
        hidden = functional.linear(given.x, self.project.weight)
        return Found(hidden, hidden.argmax(-1), {"mean": hidden.mean(), "none": None, "number": 3})


class Writes(nn.Module):
    """Gives nothing: it changes what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> None:
        x.add_(self.linear(x.detach().clone()))


class Outputs(nn.Module):
    """Named tuples, data classes, integers, None; a module called three times."""

    def __init__(self) -> None:
        super().__init__()
        self.masks, self.finds, self.writes = Masks(), Finds(), Writes()
        self.shared, self.table = nn.Linear(8, 8), nn.Embedding(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        masked = self.masks(x=self.shared(self.shared(x)), mask=torch.ones(x.shape[0], dtype=torch.bool))
        found = self.finds(masked)
        hidden = (found.hidden + self.table(found.indices)) * 1.0
        self.writes(hidden)
        hidden = hidden[masked.mask]
        return self.shared(hidden) * found.extra["number"] + found.extra["mean"]


class Lazy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.rest = nn.LazyLinear(16), nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.LazyLinear(2))

    def forward(self, x: Tensor) -> Tensor:
        return self.rest(self.first(x).relu())


class Scale(nn.Module):
    """Gives one number, its own."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = 1.0

    def forward(self, x: Tensor) -> Tensor:
        return x.mean() * 0 + self.scale


class Scales(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before, self.inner = nn.Linear(8, 8), Scale()

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(self.before(x))


class Hooked(nn.Module):
    """A hook that raises on a module, and one on a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)
        self.second.register_forward_hook(refuse)
        self.first.weight.register_hook(refuse)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x))


def refuse(*_: object) -> None:
    raise ValueError("a hook of the user's")


class Crashes(nn.Module):
    """Dies of a signal in its forward pass, and gives another width than it takes."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 16)

    def forward(self, x: Tensor) -> Tensor:
        ctypes.string_at(0)
        return self.linear(x)


class CrashesInTheMiddle(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before, self.crashing, self.after = nn.Linear(8, 8), Crashes(), nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.after(self.crashing(self.before(x)))


class NeverBuilt(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        ctypes.string_at(0)


class CrashesWhenBuilt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before, self.crashing = nn.Linear(8, 8), NeverBuilt(width=8)
        self.after = nn.Linear(self.crashing.width, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.after(self.crashing(self.before(x)))
