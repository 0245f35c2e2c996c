import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        layers, c = [], 1
        for out in (width, 2 * width, 2 * width):
            layers += [nn.Conv2d(c, out, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
            c = out
        self.net = nn.Sequential(*layers)
        self.out_dim = c * 4

    def forward(self, x):
        return self.net(x).flatten(1)


class GraspPolicy(nn.Module):
    """Gripper offset from a camera image and the joint state."""

    def __init__(self, backbone, joints=4, hidden=64, freeze_backbone=True):
        super().__init__()
        self.backbone = backbone
        if freeze_backbone:
            self.freeze()
        self.joints = nn.Sequential(nn.Linear(joints, hidden), nn.ReLU())
        self.trunk = nn.Sequential(nn.Linear(backbone.out_dim + hidden, hidden), nn.ReLU(), nn.Linear(hidden, 2))

    def freeze(self):
        for p in self.backbone.parameters():
            p.requires_grad = False

    def forward(self, image, joints):
        return self.trunk(torch.cat([self.backbone(image), self.joints(joints)], 1))

    def trainable_state(self):
        return {k: v for k, v in self.state_dict().items() if not k.startswith("backbone.")}
