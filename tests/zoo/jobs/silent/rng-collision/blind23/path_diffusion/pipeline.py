import torch
import torch.nn as nn


class Denoiser(nn.Module):
    def __init__(self, dim, hidden=256, steps=100):
        super().__init__()
        self.time = nn.Embedding(steps, hidden)
        self.inp, self.mid, self.out = nn.Linear(dim, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, dim)

    def forward(self, x, t):
        h = nn.functional.silu(self.inp(x) + self.time(t))
        h = h + nn.functional.silu(self.mid(h))
        return self.out(h)


class PathPipeline:
    def __init__(self, unet, scheduler, dim):
        self.unet, self.scheduler, self.dim = unet, scheduler, dim

    @torch.no_grad()
    def __call__(self, batch_size, generator):
        x = torch.randn(batch_size, self.dim, generator=generator)
        for t in reversed(range(self.scheduler.num_train_timesteps)):
            eps = self.unet(x, torch.full((batch_size,), t))
            x = self.scheduler.step(eps, t, x, generator)
        return x
