import torch
from torch import nn


class Picker(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(1, width, 11, padding=5), nn.GELU(), nn.Conv1d(width, width, 11, padding=5),
                                 nn.GELU(), nn.Conv1d(width, 1, 1))

    def forward(self, trace):
        return self.net(trace.unsqueeze(1)).squeeze(1)


class Arena:
    """Work space of fixed size, as the field stations have it."""

    def __init__(self, limit):
        self.limit = limit

    def take(self, batch, length, width):
        need = batch * length * width * 4 * 6
        if need > self.limit:
            raise MemoryError(f"{need} bytes wanted, {self.limit} there")
        return torch.empty(batch, length, width)
