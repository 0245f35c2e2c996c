import torch.nn as nn


def stage(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))


class Backbone(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.stages = nn.Sequential(stage(1, width), stage(width, 2 * width), stage(2 * width, 4 * width))
        self.features = 4 * width

    def forward(self, x):
        return self.stages(x).mean((2, 3))


class Classifier(nn.Module):
    def __init__(self, backbone, classes, dropout=0.2, frozen_stages=0):
        super().__init__()
        self.backbone, self.frozen_stages = backbone, frozen_stages
        self.head = nn.Sequential(nn.Linear(backbone.features, 64), nn.ReLU(), nn.Dropout(dropout),
                                  nn.Linear(64, classes))
        for s in backbone.stages[:frozen_stages]:
            s.requires_grad_(False)

    def train(self, mode=True):
        """Stages that are frozen keep the statistics that they came with."""
        super().train(mode)
        for s in self.backbone.stages[:self.frozen_stages]:
            s.eval()
        return self

    def forward(self, x):
        return self.head(self.backbone(x))
