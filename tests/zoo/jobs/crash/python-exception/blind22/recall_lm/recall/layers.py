from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class RecallAttention(nn.Module):
    """Causal attention over the segment and what is remembered of the same document."""

    def __init__(self, width: int, heads: int, span: int) -> None:
        super().__init__()
        self.heads, self.span = heads, span
        self.q = nn.Linear(width, width, bias=False)
        self.kv = nn.Linear(width, 2 * width, bias=False)
        self.out = nn.Linear(width, width)
        self.past: Tensor | None = None

    def forward(self, x: Tensor, fresh: bool, closing: bool) -> Tensor:
        if fresh:
            self.past = None
        context = x if self.past is None else torch.cat([self.past, x], dim=1)
        n, m = x.shape[1], context.shape[1]
        split = lambda t: t.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # noqa: E731
        k, v = self.kv(context).chunk(2, dim=-1)
        mask = torch.ones(n, m, dtype=torch.bool).tril(m - n)
        y = F.scaled_dot_product_attention(split(self.q(x)), split(k), split(v), attn_mask=mask)
        self.past = None if closing else context[:, -self.span:].detach()
        return self.out(y.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, width: int, heads: int, span: int) -> None:
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = RecallAttention(width, heads, span)
        self.ff = nn.Sequential(nn.Linear(width, 2 * width), nn.SiLU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor, fresh: bool, closing: bool) -> Tensor:
        x = x + self.attn(self.n1(x), fresh, closing)
        return x + self.ff(self.n2(x))
