import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, width, 3, 2, 1), nn.GELU(), nn.Conv2d(width, width, 3, 2, 1), nn.GELU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        )
        self.dim = width * 4

    def forward(self, x):
        return self.layers(x)


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(self.encoder.dim, classes)
        self.probing = True

    def features(self, x):
        if self.probing:
            with torch.no_grad():
                return self.encoder(x)
        return self.encoder(x)

    def forward(self, x):
        return self.head(self.features(x))

    def unfreeze(self):
        self.encoder.requires_grad_(True)
        self.encoder.train()
