from torch import nn


class TileNet(nn.Sequential):
    def __init__(self, classes=5):
        super().__init__(
            nn.Conv2d(3, 12, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, classes),
        )
