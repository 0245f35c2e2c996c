from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 5, stride=2, padding=2)
        self.stage = nn.Conv2d(width, 2 * width, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(4, 2 * width)

    def forward(self, x):
        return self.norm(self.stage(self.stem(x).relu())).relu().mean((2, 3))


class LandCoverNet(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.encoder = Encoder(width)
        self.head = nn.Linear(2 * width, classes)

    def forward(self, x):
        return self.head(self.encoder(x))
