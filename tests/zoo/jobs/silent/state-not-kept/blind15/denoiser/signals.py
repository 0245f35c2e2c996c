import torch
from torch.utils.data import Dataset


class NoisySignals(Dataset):
    def __init__(self, n, length=64, noise=0.6, seed=0):
        g = torch.Generator().manual_seed(seed)
        t = torch.linspace(0, 6.28, length)
        freq, phase = 1 + 4 * torch.rand(n, 1, generator=g), 6.28 * torch.rand(n, 1, generator=g)
        self.clean = torch.sin(freq * t + phase)[:, None]
        self.noisy = self.clean + noise * torch.randn(n, 1, length, generator=g)

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, i):
        return self.noisy[i], self.clean[i]
