from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class StackConfig:
    mels: int = 80
    dim: int = 384
    heads: int = 6
    depth: int = 12
    classes: int = 40
    layer_drop: float = 0.1


class Stack(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.front = nn.Sequential(nn.Conv1d(cfg.mels, cfg.dim, 3, 2, 1), nn.GELU(), nn.Conv1d(cfg.dim, cfg.dim, 3, 2, 1), nn.GELU())
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(cfg.dim, cfg.heads, 4 * cfg.dim, batch_first=True, norm_first=True) for _ in range(cfg.depth)
        )
        self.norm = nn.LayerNorm(cfg.dim)
        self.out = nn.Linear(cfg.dim, cfg.classes)

    def forward(self, mel):
        x = self.front(mel.transpose(1, 2)).transpose(1, 2)
        for layer in self.layers:
            if self.training and torch.rand(()).item() < self.cfg.layer_drop:
                continue
            x = layer(x)
        return self.out(self.norm(x))
