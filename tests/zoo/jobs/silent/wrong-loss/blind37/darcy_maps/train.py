import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


class UnitGaussianNormalizer:
    def __init__(self, x, eps=1e-5):
        self.mean, self.std, self.eps = x.mean(), x.std(), eps

    def encode(self, x):
        return (x - self.mean) / (self.std + self.eps)

    def decode(self, x):
        return x * (self.std + self.eps) + self.mean


class SpectralConv(nn.Module):
    def __init__(self, width, modes):
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.randn(width, width, modes, 2) / width)

    def forward(self, x):
        xf = torch.fft.rfft(x)
        out = torch.zeros_like(xf)
        w = torch.view_as_complex(self.weight)
        out[..., :self.modes] = torch.einsum("bim,iom->bom", xf[..., :self.modes], w)
        return torch.fft.irfft(out, n=x.size(-1))


class FNO1d(nn.Module):
    def __init__(self, width=20, modes=8, depth=3):
        super().__init__()
        self.lift = nn.Conv1d(2, width, 1)
        self.spec = nn.ModuleList(SpectralConv(width, modes) for _ in range(depth))
        self.skip = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(depth))
        self.proj = nn.Conv1d(width, 1, 1)

    def forward(self, a):
        grid = torch.linspace(0, 1, a.size(-1)).expand_as(a)
        h = self.lift(torch.stack([a, grid], 1))
        for s, k in zip(self.spec, self.skip):
            h = F.gelu(s(h) + k(h))
        return self.proj(h).squeeze(1)


def darcy(n, points, seed):
    """-(a u')' = 1 on a line, u(0) = u(1) = 0."""
    g = torch.Generator().manual_seed(seed)
    k = torch.arange(1, 6)
    t = torch.linspace(0, 1, points)
    field = (torch.randn(n, 5, 1, generator=g) / k[:, None] * torch.cos(torch.pi * k[:, None] * t)).sum(1)
    a = torch.exp(0.7 * field)
    r, s = torch.cumsum(1 / a, 1) / points, torch.cumsum(t / a, 1) / points
    u = r * (s[:, -1:] / r[:, -1:]) - s
    return a, 2 + 30 * u


def rel_l2(pred, target):
    return ((pred - target).norm(dim=1) / target.norm(dim=1)).mean()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--ntrain", type=int, default=600)
    ap.add_argument("--points", type=int, default=64)
    ap.add_argument("--epochs", type=int, default=20)
    args = ap.parse_args()
    torch.manual_seed(0)
    xa, ya = darcy(args.ntrain, args.points, 0)
    xb, yb = darcy(150, args.points, 1)
    x_norm, y_norm = UnitGaussianNormalizer(xa), UnitGaussianNormalizer(ya)
    train = DataLoader(TensorDataset(x_norm.encode(xa), y_norm.encode(ya)), batch_size=30, shuffle=True)
    test = DataLoader(TensorDataset(x_norm.encode(xb), yb), batch_size=50)
    model = FNO1d()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in train:
            out = y_norm.decode(model(x))
            loss = rel_l2(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        model.eval()
        with torch.no_grad():
            err = sum(rel_l2(y_norm.decode(model(x)), y).item() for x, y in test) / len(test)
        print(f"epoch {epoch} train {total / len(train):.4f} test {err:.4f}", flush=True)


if __name__ == "__main__":
    main()
