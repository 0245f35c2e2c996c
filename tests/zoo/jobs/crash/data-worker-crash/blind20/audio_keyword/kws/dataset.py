import math

import torch
from torch.utils.data import Dataset

KEYWORDS = ["yes", "no", "up", "down", "stop", "go"]


class KeywordClips(Dataset):
    def __init__(self, clips, samples, seed):
        self.clips, self.samples, self.seed = clips, samples, seed

    def __len__(self):
        return self.clips

    def __getitem__(self, index):
        g = torch.Generator().manual_seed(self.seed * 100003 + index)
        label = index % len(KEYWORDS)
        t = torch.arange(self.samples) / self.samples
        wave = torch.sin(2 * math.pi * (8 + 6 * label) * t + torch.rand(1, generator=g) * 6.28)
        return wave + 0.3 * torch.randn(self.samples, generator=g), label


def log_spectrum(batch, bins=64):
    spectrum = torch.fft.rfft(batch).abs()[:, :bins]
    return torch.log1p(spectrum)
