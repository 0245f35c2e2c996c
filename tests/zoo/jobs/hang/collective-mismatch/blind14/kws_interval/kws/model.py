import torch
from torch import nn


class Frontend(nn.Module):
    def __init__(self, n_fft=256, hop=80):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))

    def forward(self, wave):
        spec = torch.stft(wave, self.n_fft, self.hop, window=self.window, return_complex=True)
        return (spec.abs() + 1e-3).log()


class KeywordNet(nn.Module):
    def __init__(self, mean, std, n_classes=8, width=64):
        super().__init__()
        self.frontend = Frontend()
        self.register_buffer("mean", mean.view(1, -1, 1))
        self.register_buffer("std", std.view(1, -1, 1))
        self.conv = nn.Sequential(
            nn.Conv1d(mean.numel(), width, 5, padding=2), nn.GroupNorm(8, width), nn.ReLU(),
            nn.Conv1d(width, width, 5, stride=2, padding=2), nn.GroupNorm(8, width), nn.ReLU())
        self.out = nn.Linear(width, n_classes)

    def forward(self, wave):
        feats = (self.frontend(wave) - self.mean) / self.std
        return self.out(self.conv(feats).mean(-1))
