import torch
from torch import nn


class Imputer(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(2 * channels, width, 7, padding=3), nn.GELU(),
                                 nn.Conv1d(width, width, 7, padding=3), nn.GELU(),
                                 nn.Conv1d(width, channels, 1))

    def forward(self, values, observed):
        return self.net(torch.cat([values, observed], 2).transpose(1, 2)).transpose(1, 2)


def masked_error(predicted, target, observed):
    hidden = 1 - observed
    return ((predicted - target).square() * hidden).sum() / hidden.sum().clamp_min(1)
