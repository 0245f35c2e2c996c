import argparse
import os

import torch
import torch.distributed as dist
from torch import nn

from ring import ring_attention


class SequenceModel(nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.size = size
        self.inp = nn.Linear(3, dim)
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.out = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def forward(self, x):
        h = self.inp(x)
        if self.size == 1:
            a = torch.softmax(self.q(h) @ self.k(h).transpose(-1, -2) * h.shape[-1] ** -0.5, -1) @ self.v(h)
        else:
            a = ring_attention(self.q(h), self.k(h), self.v(h), self.size)
        return self.out(h + a).squeeze(-1)


def average_gradients(model, size):
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    flat = torch.cat([g.flatten() for g in grads])
    dist.all_reduce(flat)
    flat /= size
    offset = 0
    for g in grads:
        g.copy_(flat[offset:offset + g.numel()].view_as(g))
        offset += g.numel()


def series(batch, length, step):
    g = torch.Generator().manual_seed(step)
    x = torch.randn(batch, length, 3, generator=g)
    y = (x[..., 0] * x[..., 1].mean(1, keepdim=True)) + x[..., 2]
    return x, y


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--length", type=int, default=96)
    ap.add_argument("--batch", type=int, default=4)
    ap.add_argument("--dim", type=int, default=24)
    ap.add_argument("--steps", type=int, default=40)
    ap.add_argument("--lr", type=float, default=2e-3)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.manual_seed(0)
    model = SequenceModel(a.dim, size)
    optimizer = torch.optim.Adam(model.parameters(), lr=a.lr)
    chunk = a.length // size
    for step in range(a.steps):
        x, y = series(a.batch, a.length, step)
        part = slice(rank * chunk, (rank + 1) * chunk)
        loss = nn.functional.mse_loss(model(x[:, part]), y[:, part])
        optimizer.zero_grad()
        loss.backward()
        average_gradients(model, size)
        optimizer.step()
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
