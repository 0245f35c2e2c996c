"""Parts without batch norms, frozen again after each train(), with a train() of their own, or no part of the model."""

import timm
import torch
from torch import nn
from torchvision.models import resnet50
from torchvision.ops import FrozenBatchNorm2d


def freeze(module):
    for parameter in module.parameters():
        parameter.requires_grad = False
    module.eval()


def fit(model, loader, optimizer, again=()):
    for _ in range(10):
        model.train()
        for part in again:
            part.eval()
        for images, labels in loader:
            nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
            optimizer.zero_grad()


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8))
        self.head = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))
        freeze(self.encoder)

    def forward(self, x):
        return self.head(self.encoder(x))


class Vision(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = timm.create_model("vit_base_patch16_224", pretrained=True)
        self.trunk = resnet50(weights="DEFAULT", norm_layer=FrozenBatchNorm2d)
        freeze(self.backbone)
        freeze(self.trunk)


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = resnet50(weights="DEFAULT")
        self.features.requires_grad_(False)
        self.features.eval()

    def forward(self, x):
        self.features.eval()
        return self.features(x)


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = resnet50(weights="DEFAULT")
        self.body.requires_grad_(False)
        self.body.eval()

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self


def by_turns(loader):
    model = resnet50(weights="DEFAULT")
    optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.1)
    for _ in range(10):
        model.train()
        freeze(model.layer1)
        for images, labels in loader:
            nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))
        self.decoder = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8))


def by_their_names(loader):
    """What is frozen has no batch norms, and what has them is not frozen."""
    model = Tagger()
    for name, parameter in model.named_parameters():
        if name.startswith("decoder."):
            parameter.requires_grad = False
    model.decoder.eval()
    model.encoder.eval()
    fit(model, loader, torch.optim.SGD(model.encoder.parameters(), lr=0.1))


def teacher_beside(model, teacher, loader):
    freeze(teacher)
    fit(model, loader, torch.optim.SGD(model.parameters(), lr=0.1))


def main(loader):
    for kind in (Transformer, Vision, Probe, Kept):
        model = kind()
        fit(model, loader, torch.optim.SGD(model.parameters(), lr=0.1))
