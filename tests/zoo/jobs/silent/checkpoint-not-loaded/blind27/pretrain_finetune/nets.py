import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, dim=40, width=96, depth=3):
        super().__init__()
        mods, last = [], dim
        for _ in range(depth):
            mods += [nn.Linear(last, width), nn.LayerNorm(width), nn.GELU()]
            last = width
        self.body = nn.Sequential(*mods)

    def forward(self, x):
        return self.body(x)


class MaskedModel(nn.Module):
    def __init__(self, dim=40, width=96):
        super().__init__()
        self.encoder = Encoder(dim, width)
        self.decoder = nn.Linear(width, dim)

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Classifier(nn.Module):
    def __init__(self, dim=40, width=96, classes=5):
        super().__init__()
        self.encoder = Encoder(dim, width)
        self.fc = nn.Linear(width, classes)

    def forward(self, x):
        return self.fc(self.encoder(x))
