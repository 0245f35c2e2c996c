import torch
from torch import nn


class SpectralConv1d(nn.Module):
    def __init__(self, channels, modes):
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.randn(channels, channels, modes, 2) / channels)

    def forward(self, x):
        spectrum = torch.fft.rfft(x)
        out = torch.zeros_like(spectrum)
        out[..., :self.modes] = torch.einsum("bim,iom->bom", spectrum[..., :self.modes],
                                             torch.view_as_complex(self.weight))
        return torch.fft.irfft(out, n=x.size(-1))


class FNO1d(nn.Module):
    def __init__(self, width=24, modes=10, depth=3):
        super().__init__()
        self.lift = nn.Conv1d(2, width, 1)
        self.spectral = [SpectralConv1d(width, modes) for _ in range(depth)]
        self.local = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(depth))
        self.project = nn.Sequential(nn.Conv1d(width, 48, 1), nn.GELU(), nn.Conv1d(48, 1, 1))

    def forward(self, u):
        grid = torch.linspace(0, 1, u.size(-1)).expand(u.size(0), 1, -1)
        h = self.lift(torch.cat([u, grid], dim=1))
        for spectral, local in zip(self.spectral, self.local):
            h = nn.functional.gelu(spectral(h) + local(h))
        return self.project(h)
