import torch
from torch import nn


class TwoTower(nn.Module):
    def __init__(self, dim=256, vocab=8192):
        super().__init__()
        self.image = nn.Sequential(
            nn.Conv2d(3, 64, 7, stride=4), nn.GELU(), nn.Conv2d(64, dim, 3, stride=2), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
        )
        self.text = nn.EmbeddingBag(vocab, dim)

    def forward(self, pixels, tokens):
        return self.image(pixels), self.text(tokens)
