import torch
from torch import nn


class SpectralConv1d(nn.Module):
    def __init__(self, width, modes):
        super().__init__()
        self.modes = modes
        self.re = nn.Parameter(torch.randn(width, width, modes) / width)
        self.im = nn.Parameter(torch.randn(width, width, modes) / width)

    def forward(self, x):
        xf = torch.fft.rfft(x)[..., : self.modes]
        re = torch.einsum("bim,iom->bom", xf.real, self.re) - torch.einsum("bim,iom->bom", xf.imag, self.im)
        im = torch.einsum("bim,iom->bom", xf.real, self.im) + torch.einsum("bim,iom->bom", xf.imag, self.re)
        return torch.fft.irfft(torch.complex(re, im), n=x.size(-1))


class FNO1d(nn.Module):
    def __init__(self, width=24, modes=12, layers=3):
        super().__init__()
        self.lift = nn.Conv1d(2, width, 1)
        self.spec = nn.ModuleList(SpectralConv1d(width, modes) for _ in range(layers))
        self.skip = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(layers))
        self.proj = nn.Sequential(nn.Conv1d(width, 48, 1), nn.GELU(), nn.Conv1d(48, 1, 1))

    def forward(self, u):
        grid = torch.linspace(0, 1, u.size(-1)).expand_as(u)
        x = self.lift(torch.stack([u, grid], 1))
        for s, k in zip(self.spec, self.skip):
            x = nn.functional.gelu(s(x) + k(x))
        return self.proj(x).squeeze(1)
