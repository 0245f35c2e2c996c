from torch import nn


class ConvBlock(nn.Sequential):
    def __init__(self, cin, cout):
        super().__init__(nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(4, cout), nn.ReLU())


class SmallSegNet(nn.Module):
    def __init__(self, bands, classes, width, depth):
        super().__init__()
        self.stem = ConvBlock(bands, width)
        self.body = nn.Sequential(*[ConvBlock(width, width) for _ in range(depth)])
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        return self.head(self.body(self.stem(x)))
