from torch import nn


class ClipNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(48, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, clip):
        return self.layers(clip)
