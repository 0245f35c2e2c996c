from torch import nn


class Forecaster(nn.Module):
    def __init__(self, features, hidden, layers, horizon):
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, num_layers=layers)
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, horizon)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.head(self.norm(out[:, -1]))
