import copy

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width=24, out=32):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(1, width, 7, 2, 3), nn.BatchNorm1d(width), nn.ReLU(),
                                  nn.Conv1d(width, width, 5, 2, 2), nn.BatchNorm1d(width), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten())
        self.proj = nn.Linear(4 * width, out)

    def forward(self, x):
        return self.proj(self.body(x))


class Student(nn.Module):
    def __init__(self, encoder, out=32):
        super().__init__()
        self.encoder = encoder
        self.predict = nn.Sequential(nn.Linear(out, 48), nn.ReLU(), nn.Linear(48, out))

    def forward(self, x):
        return self.predict(self.encoder(x))


class Teacher:
    """A slow copy of the student's encoder: never trained, always in eval mode."""

    def __init__(self, encoder, decay):
        self.net = copy.deepcopy(encoder).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def follow(self, encoder):
        for slow, fast in zip(self.net.parameters(), encoder.parameters()):
            slow.lerp_(fast, 1 - self.decay)
        for slow, fast in zip(self.net.buffers(), encoder.buffers()):
            slow.copy_(fast)

    @torch.no_grad()
    def __call__(self, x):
        return self.net(x)
