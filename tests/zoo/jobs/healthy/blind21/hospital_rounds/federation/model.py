import torch.nn as nn


class RiskModel(nn.Module):
    def __init__(self, features=20, width=64, outcomes=4):
        super().__init__()
        self.norm = nn.BatchNorm1d(features)
        self.body = nn.Sequential(nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, outcomes)

    def forward(self, x):
        return self.head(self.body(self.norm(x)))
