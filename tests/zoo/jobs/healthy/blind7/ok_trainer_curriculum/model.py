import torch
from torch import nn


class Pointer(nn.Module):
    def __init__(self, length=10, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(length, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, length))
        self.length = length

    def forward(self, values, labels=None):
        logits = self.net(values * 4 - 2)
        loss = nn.functional.cross_entropy(logits, labels, label_smoothing=0.05) if labels is not None else None
        return {"loss": loss, "logits": logits} if loss is not None else {"logits": logits}
