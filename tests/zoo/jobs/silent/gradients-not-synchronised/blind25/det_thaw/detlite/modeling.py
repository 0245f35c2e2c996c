import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self, width=24):
        super().__init__()

        def stage(i, o, s):
            return nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.GroupNorm(4, o), nn.ReLU())

        self.stages = nn.Sequential(stage(1, width, 2), stage(width, 2 * width, 2), stage(2 * width, 2 * width, 1))
        self.out_channels = 2 * width

    def forward(self, x):
        return self.stages(x)


class BoxHead(nn.Module):
    """Regresses (cx, cy, w, h) of the one object and its class."""

    def __init__(self, channels, size, classes):
        super().__init__()
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(channels * size * size, 96), nn.ReLU())
        self.box = nn.Linear(96, 4)
        self.cls = nn.Linear(96, classes)

    def forward(self, feat):
        h = self.fc(feat)
        return self.box(h).sigmoid(), self.cls(h)


class SingleObjectDetector(nn.Module):
    def __init__(self, classes=4, freeze_backbone=True):
        super().__init__()
        self.backbone = Backbone()
        self.box_head = BoxHead(self.backbone.out_channels, 6, classes)
        if freeze_backbone:
            for p in self.backbone.parameters():
                p.requires_grad = False

    def unfreeze_backbone(self):
        for p in self.backbone.parameters():
            p.requires_grad = True
        return [p for p in self.backbone.parameters()]

    def forward(self, images):
        return self.box_head(self.backbone(images))
