import torch
from torch.utils.data import Dataset


class AdvectedFields(Dataset):
    """Pairs of a smooth periodic field and itself advected and damped."""

    def __init__(self, count=640, n=24, seed=0):
        g = torch.Generator().manual_seed(seed)
        spec = torch.randn(count, n, n // 2 + 1, dtype=torch.complex64, generator=g)
        k = torch.fft.fftfreq(n)[:, None] ** 2 + torch.fft.rfftfreq(n)[None, :] ** 2
        now = torch.fft.irfft2(spec * torch.exp(-k * 60), s=(n, n))
        now = now / now.std()
        self.now = now.unsqueeze(1)
        self.nxt = (0.9 * now.roll((2, 1), (1, 2)) + 0.05 * now ** 2).unsqueeze(1)

    def __len__(self):
        return len(self.now)

    def __getitem__(self, i):
        return self.now[i], self.nxt[i]
