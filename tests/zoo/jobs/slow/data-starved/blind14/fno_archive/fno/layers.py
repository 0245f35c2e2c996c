import torch
from torch import nn


class SpectralConv(nn.Module):
    def __init__(self, width, modes):
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.randn(width, width, modes, modes, 2) / width)

    def forward(self, x):
        spec = torch.fft.rfft2(x)
        out = torch.zeros_like(spec)
        m = self.modes
        out[..., :m, :m] = torch.einsum("bixy,ioxy->boxy", spec[..., :m, :m], torch.view_as_complex(self.weight))
        return torch.fft.irfft2(out, s=x.shape[-2:])


class FNO(nn.Module):
    def __init__(self, width=12, modes=8, depth=2):
        super().__init__()
        self.lift = nn.Conv2d(1, width, 1)
        self.spectral = nn.ModuleList(SpectralConv(width, modes) for _ in range(depth))
        self.local = nn.ModuleList(nn.Conv2d(width, width, 1) for _ in range(depth))
        self.proj = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        h = self.lift(x)
        for s, l in zip(self.spectral, self.local):
            h = nn.functional.gelu(s(h) + l(h))
        return self.proj(h)
