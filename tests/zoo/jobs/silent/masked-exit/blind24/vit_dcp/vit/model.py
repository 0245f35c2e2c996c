import torch
from torch import nn


class ViT(nn.Module):
    def __init__(self, size=16, patch=4, width=48, depth=2, classes=7):
        super().__init__()
        self.patch = nn.Conv2d(3, width, patch, stride=patch)
        self.pos = nn.Parameter(torch.zeros(1, (size // patch) ** 2, width))
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, depth)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        tokens = self.patch(x).flatten(2).transpose(1, 2) + self.pos
        return self.head(self.body(tokens).mean(1))
