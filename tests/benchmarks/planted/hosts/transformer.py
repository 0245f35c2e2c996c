"""A decoder-only language model, 12 modules a block."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

VOCABULARY = 64
TOKENS = 12


class Rotary(nn.Module):
    """Turns pairs of channels by an angle that grows with the position."""

    def __init__(self, width: int) -> None:
        super().__init__()
        rates = 1.0 / 100 ** (torch.arange(0, width, 2) / width)
        self.register_buffer("rates", rates, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        angles = torch.arange(x.shape[-2], device=x.device)[:, None] * self.rates
        even, odd = x[..., ::2], x[..., 1::2]
        turned = even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()
        return torch.stack(turned, dim=-1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.rope = Rotary(width // heads)
        self.out = nn.Linear(width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = (one.unflatten(-1, (self.heads, -1)).transpose(1, 2) for one in self.qkv(x).chunk(3, -1))
        scores = self.rope(query) @ self.rope(key).transpose(-1, -2) / query.shape[-1] ** 0.5
        ahead = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        mixed = scores.masked_fill(ahead, float("-inf")).softmax(-1).to(value.dtype) @ value
        return self.drop(self.out(mixed.transpose(1, 2).flatten(2)))


class Mlp(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.act = nn.GELU()
        self.down = nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.act(self.up(x)))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, mlp: nn.Module) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = mlp

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    """(batch, tokens) of integers -> (batch, tokens, vocabulary)."""

    def __init__(
        self,
        depth: int = 12,
        width: int = 16,
        heads: int = 2,
        *,
        tied: bool = False,
        mlp: Callable[[int, int], nn.Module] | None = None,
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        self.positions = nn.Embedding(TOKENS, width)
        self.blocks = nn.ModuleList(
            Block(width, heads, mlp(width, index) if mlp is not None else Mlp(width)) for index in range(depth)
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        if tied:
            self.head.weight = self.embed.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def tokens() -> Tensor:
    """Returns one batch."""
    return torch.randint(0, VOCABULARY, (4, TOKENS), generator=torch.Generator().manual_seed(1))
