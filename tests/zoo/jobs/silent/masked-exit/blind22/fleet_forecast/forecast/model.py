from torch import nn


class Forecaster(nn.Module):
    def __init__(self, lags, horizon, width=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(lags, width), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, horizon),
        )

    def forward(self, x):
        return self.net(x)
