import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
                                  nn.MaxPool2d(2), nn.Conv2d(width, 2 * width, 3, padding=1),
                                  nn.BatchNorm2d(2 * width), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.out_features = 8 * width

    def forward(self, x):
        return self.stem(x)


class Classifier(nn.Module):
    def __init__(self, classes, frozen=False):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(self.backbone.out_features, classes)
        self.frozen = frozen
        if frozen:
            self.backbone.requires_grad_(False)

    def train(self, mode=True):
        super().train(mode)
        if self.frozen:
            self.backbone.eval()
        return self

    def forward(self, x):
        return self.head(self.backbone(x))


def shapes(count, classes, seed, size=14):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, classes, (count,), generator=g)
    grid = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(grid, grid, indexing="ij")
    angle = y.float() * torch.pi / classes
    wave = torch.sin(6 * (xx * angle.cos()[:, None, None] + yy * angle.sin()[:, None, None])
                     + 6.3 * torch.rand(count, 1, 1, generator=g))
    return (wave + 0.5 * torch.randn(count, size, size, generator=g))[:, None], y
