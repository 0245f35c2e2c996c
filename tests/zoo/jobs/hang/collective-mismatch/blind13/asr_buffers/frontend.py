"""Signal front end: everything here is constant and lives in buffers."""
import math

import torch
from torch import nn


class Frontend(nn.Module):
    def __init__(self, n_fft=256, hop=64, n_mels=40):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))
        self.register_buffer("mel", self._mel(n_mels, n_fft // 2 + 1))
        self.register_buffer("mean", torch.zeros(n_mels))
        self.register_buffer("std", torch.ones(n_mels))

    @staticmethod
    def _mel(n_mels, bins):
        centers = torch.linspace(0, bins - 1, n_mels + 2)
        grid = torch.arange(bins).float()
        up = (grid[None] - centers[:-2, None]) / (centers[1:-1] - centers[:-2])[:, None]
        down = (centers[2:, None] - grid[None]) / (centers[2:] - centers[1:-1])[:, None]
        return torch.clamp(torch.minimum(up, down), min=0)

    def calibrate(self, wave):
        feats = self.features(wave)
        self.mean.copy_(feats.mean((0, 1)))
        self.std.copy_(feats.std((0, 1)) + 1e-4)

    def features(self, wave):
        spec = torch.stft(wave, self.n_fft, self.hop, window=self.window, return_complex=True).abs()
        return torch.log1p(self.mel @ spec).transpose(1, 2)

    def forward(self, wave):
        return (self.features(wave) - self.mean) / self.std


class Encoder(nn.Module):
    def __init__(self, n_mels=40, dim=96, vocab=30, max_len=512):
        super().__init__()
        self.frontend = Frontend(n_mels=n_mels)
        self.inp = nn.Linear(n_mels, dim)
        self.local = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)
        pos = torch.arange(max_len)[:, None] / (10000 ** (torch.arange(0, dim, 2) / dim))
        self.register_buffer("sin_table", torch.sin(pos))
        self.register_buffer("cos_table", torch.cos(pos))
        self.register_buffer("blank_bias", torch.full((vocab,), -math.log(vocab)))

    def forward(self, wave):
        x = self.inp(self.frontend(wave))
        n = x.shape[1]
        x = x + torch.cat([self.sin_table[:n], self.cos_table[:n]], -1)
        x, _ = self.local(x)
        return self.out(x) + self.blank_bias
