import torch.nn as nn


class Generator(nn.Module):
    def __init__(self, z_dim=16, width=32, side=12):
        super().__init__()
        self.side = side
        self.net = nn.Sequential(
            nn.Linear(z_dim, width), nn.LayerNorm(width), nn.ReLU(),
            nn.Linear(width, width * 2), nn.ReLU(),
            nn.Linear(width * 2, side * side), nn.Tanh(),
        )

    def forward(self, z):
        return self.net(z).view(-1, 1, self.side, self.side)
