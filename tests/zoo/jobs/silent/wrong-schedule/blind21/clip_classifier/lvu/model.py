import torch
import torch.nn as nn


class ClipModel(nn.Module):
    def __init__(self, size, frames, classes, width, layers):
        super().__init__()
        self.project = nn.Linear(size, width)
        self.positions = nn.Parameter(0.02 * torch.randn(1, frames, width))
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.encoder(self.project(x) + self.positions).mean(1))
