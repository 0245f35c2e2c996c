"""DDPM on points of two moons; samples come from the averaged weights."""
import argparse
import copy

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


def moons(n, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.rand(n, generator=g) * torch.pi
    up = torch.rand(n, generator=g) < 0.5
    x = torch.where(up, torch.cos(t), 1 - torch.cos(t))
    y = torch.where(up, torch.sin(t), 0.5 - torch.sin(t))
    return (torch.stack([x, y], 1) + 0.05 * torch.randn(n, 2, generator=g) - 0.4) / 0.8


class Denoiser(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 + 16, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                 nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))
        self.register_buffer("freq", 2.0 ** torch.arange(8))

    def forward(self, x, t):
        angle = t[:, None] / 50 * self.freq
        return self.net(torch.cat([x, angle.sin(), angle.cos()], 1))


class EMA:
    def __init__(self, model, decay):
        self.model = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay, self.n = decay, 0

    @torch.no_grad()
    def update(self, model):
        self.n += 1
        d = min(self.decay, (1 + self.n) / (10 + self.n))
        for e, p in zip(self.model.parameters(), model.parameters()):
            e.lerp_(p, 1 - d)


class Schedule:
    def __init__(self, steps):
        self.steps = steps
        self.beta = torch.linspace(1e-4, 0.2, steps)
        self.alpha = 1 - self.beta
        self.bar = self.alpha.cumprod(0)

    def noised(self, x, t, noise):
        a = self.bar[t][:, None]
        return a.sqrt() * x + (1 - a).sqrt() * noise

    @torch.no_grad()
    def sample(self, model, n):
        x = torch.randn(n, 2)
        for i in reversed(range(self.steps)):
            eps = model(x, torch.full((n,), i))
            x = (x - self.beta[i] / (1 - self.bar[i]).sqrt() * eps) / self.alpha[i].sqrt()
            if i > 0:
                x = x + self.beta[i].sqrt() * torch.randn_like(x)
        return x


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=30)
    ap.add_argument("--timesteps", type=int, default=50)
    ap.add_argument("--ema", type=float, default=0.995)
    args = ap.parse_args()
    torch.manual_seed(0)
    data, real = moons(4000, 0), moons(500, 1)
    loader = DataLoader(TensorDataset(data), batch_size=128, shuffle=True)
    model, sched = Denoiser(), Schedule(args.timesteps)
    ema = EMA(model, args.ema)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        total = 0.0
        for (x,) in loader:
            t, noise = torch.randint(0, args.timesteps, (len(x),)), torch.randn_like(x)
            loss = nn.functional.mse_loss(model(sched.noised(x, t, noise), t), noise)
            opt.zero_grad()
            loss.backward()
            opt.step()
            ema.update(model)
            total += loss.item()
        if epoch % 10 == 9:
            d = torch.cdist(sched.sample(ema.model, 500), real).min(1).values.mean().item()
            print(f"epoch {epoch} eps mse {total / len(loader):.4f} distance of samples {d:.4f}", flush=True)


if __name__ == "__main__":
    main()
