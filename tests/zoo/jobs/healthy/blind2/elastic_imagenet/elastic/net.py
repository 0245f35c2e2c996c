import torch
from torch import nn


class ResidualBlock(nn.Module):

    def __init__(self, width):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1))

    def forward(self, x):
        return torch.relu(x + self.conv(x))


def resnet(width=8, depth=2, classes=5):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1), *[ResidualBlock(width) for _ in range(depth)],
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes),
    )
