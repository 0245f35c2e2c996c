import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self, channels=1, width=16):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(channels, width, 3, 2, 1), nn.GroupNorm(4, width), nn.ReLU())
        self.body = nn.Sequential(nn.Conv2d(width, 2 * width, 3, 2, 1), nn.GroupNorm(4, 2 * width), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.num_features = 8 * width

    def forward(self, x):
        return self.body(self.stem(x))


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(self.backbone.num_features, classes)

    def reset_classifier(self, classes):
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(self.backbone.num_features, classes))

    def forward(self, x):
        return self.head(self.backbone(x))
