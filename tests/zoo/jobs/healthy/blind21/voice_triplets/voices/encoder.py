import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, features=40, width=128, out=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, out))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)
