import torch.nn as nn


class Picker(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(3, width, 15, stride=8, padding=7), nn.ReLU(),
            nn.Conv1d(width, 2 * width, 9, stride=4, padding=4), nn.ReLU(),
            nn.Conv1d(2 * width, 2 * width, 9, stride=4, padding=4), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * width, 64), nn.ReLU(), nn.Linear(64, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)
