import torch
import torch.nn.functional as F
from torch import nn

from .heads import AssistHead, BoxHead


class Detector(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg.dim
        self.backbone = nn.Sequential(nn.Conv2d(3, d, 3, 2, 1), nn.ReLU(), nn.Conv2d(d, d, 3, 2, 1), nn.ReLU())
        self.neck = nn.Conv2d(d, d, 1)
        self.head = BoxHead(d, cfg.classes)
        self.assist = AssistHead(d, cfg.classes)
        self.detach_epoch = cfg.detach_epoch
        self.epoch = 0

    def losses(self, feat, target):
        cls, reg = self.head(feat)
        out = {"cls": F.cross_entropy(cls, target["label"]), "reg": F.smooth_l1_loss(reg, target["box"])}
        if self.epoch < self.detach_epoch:
            out["assist"] = 0.25 * F.cross_entropy(self.assist(feat), target["label"])
        return out

    def forward(self, image, target):
        feat = torch.relu(self.neck(self.backbone(image)))
        return self.losses(feat, target)
