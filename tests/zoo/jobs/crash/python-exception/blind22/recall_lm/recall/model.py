from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from recall.layers import Layer


class RecallLM(nn.Module):
    def __init__(self, vocab: int = 128, width: int = 48, depth: int = 3, heads: int = 4, span: int = 96) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(Layer(width, heads, span) for _ in range(depth))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor, fresh: bool, closing: bool) -> Tensor:
        x = self.embed(tokens)
        for layer in self.layers:
            x = checkpoint(layer, x, fresh, closing, use_reentrant=False)
        logits = self.norm(x) @ self.embed.weight.t()
        return torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
