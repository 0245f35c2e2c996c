import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self, freeze_box_head=True):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(32, 64), nn.ReLU())
        self.box_head = nn.Linear(64, 4)
        self.class_head = nn.Linear(64, 10)
        if freeze_box_head:
            for p in self.box_head.parameters():
                p.requires_grad = False

    def unfreeze_box_head(self):
        for p in self.box_head.parameters():
            p.requires_grad = True  # cause

    def forward(self, x):
        h = self.backbone(x)
        return self.box_head(h), self.class_head(h)
