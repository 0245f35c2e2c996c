import torch.nn as nn


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(4, cout), nn.SiLU())


class TinySegmenter(nn.Module):
    def __init__(self, width=8, classes=2):
        super().__init__()
        self.down1 = block(3, width)
        self.down2 = block(width, width * 2)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ConvTranspose2d(width * 2, width, 2, stride=2)
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skip = self.down1(x)
        y = self.down2(self.pool(skip))
        return self.head(self.up(y) + skip)
