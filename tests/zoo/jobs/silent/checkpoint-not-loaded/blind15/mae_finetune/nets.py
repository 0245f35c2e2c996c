import torch
from torch import nn


class PatchEncoder(nn.Module):
    def __init__(self, dim=48, depth=2, patches=16, patch=16):
        super().__init__()
        self.embed = nn.Linear(patch, dim)
        self.pos = nn.Parameter(0.02 * torch.randn(patches, dim))
        layer = nn.TransformerEncoderLayer(dim, 4, 96, 0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, depth)

    def forward(self, patches):
        return self.layers(self.embed(patches) + self.pos)


class MaskedAutoencoder(nn.Module):
    def __init__(self, dim=48, patch=16):
        super().__init__()
        self.encoder = PatchEncoder(dim)
        self.decoder = nn.Linear(dim, patch)

    def forward(self, patches, keep):
        return self.decoder(self.encoder(patches * keep[..., None]))


class PatchClassifier(nn.Module):
    def __init__(self, classes, dim=48):
        super().__init__()
        self.encoder = PatchEncoder(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, patches):
        return self.head(self.encoder(patches).mean(1))
