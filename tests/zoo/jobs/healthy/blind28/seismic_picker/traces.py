import torch
from torch.utils.data import Dataset


class Traces(Dataset):
    """Noise with an onset; the label is the place of the onset."""

    def __init__(self, count, seed, length=128):
        gen = torch.Generator().manual_seed(seed)
        self.onset = torch.randint(24, length - 24, (count,), generator=gen)
        time = torch.arange(length)[None, :] - self.onset[:, None]
        wave = torch.exp(-time.clamp(min=0) / 18.0) * torch.sin(time * 0.9) * (time >= 0)
        self.trace = 1.5 * wave + 0.25 * torch.randn(count, length, generator=gen)

    def __len__(self):
        return len(self.onset)

    def __getitem__(self, i):
        return self.trace[i], self.onset[i]
