import torch
import torch.nn as nn
import torch.nn.functional as F


class SpectralConv2d(nn.Module):
    def __init__(self, width, modes):
        super().__init__()
        self.modes = modes
        scale = 1 / width ** 2
        self.w = nn.Parameter(scale * torch.rand(2, width, width, modes, modes, 2))

    def forward(self, x):
        m, w = self.modes, torch.view_as_complex(self.w)
        xf = torch.fft.rfft2(x)
        out = torch.zeros_like(xf)
        out[:, :, :m, :m] = torch.einsum("bixy,ioxy->boxy", xf[:, :, :m, :m], w[0])
        out[:, :, -m:, :m] = torch.einsum("bixy,ioxy->boxy", xf[:, :, -m:, :m], w[1])
        return torch.fft.irfft2(out, s=x.shape[-2:])


class FNO2d(nn.Module):
    def __init__(self, width=12, modes=6, layers=2):
        super().__init__()
        self.lift = nn.Conv2d(2, width, 1)
        self.spectral = nn.ModuleList(SpectralConv2d(width, modes) for _ in range(layers))
        self.local = nn.ModuleList(nn.Conv2d(width, width, 1) for _ in range(layers))
        self.project = nn.Sequential(nn.Conv2d(width, 32, 1), nn.GELU(), nn.Conv2d(32, 1, 1))

    def forward(self, x, dt):
        h = self.lift(torch.cat([x, dt.view(-1, 1, 1, 1).expand_as(x)], 1))
        for s, c in zip(self.spectral, self.local):
            h = F.gelu(s(h) + c(h))
        return x + self.project(h)
