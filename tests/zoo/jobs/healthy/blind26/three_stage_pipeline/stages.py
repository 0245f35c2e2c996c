import torch
import torch.distributed as dist
from torch import nn


def build_stage(rank, dim):
    torch.manual_seed(30 + rank)
    if rank == 0:
        return nn.Sequential(nn.Linear(10, dim), nn.GELU())
    if rank == 1:
        return nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim), nn.GELU())
    return nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 1))


class Pipeline:
    """GPipe schedule: all micro-batches forward, then all backward."""

    def __init__(self, module, rank, size, micro, dim):
        self.module, self.rank, self.size, self.micro, self.dim = module, rank, size, micro, dim
        self.first, self.last = rank == 0, rank == size - 1

    def forward(self, inputs, rows):
        pending, saved = [], []
        for m in range(self.micro):
            if self.first:
                x = inputs[m]
            else:
                x = torch.empty(rows, self.dim)
                dist.recv(x, src=self.rank - 1, tag=m)
                x.requires_grad_(True)
            y = self.module(x)
            if not self.last:
                out = y.detach().contiguous()
                pending.append((dist.isend(out, dst=self.rank + 1, tag=m), out))
            saved.append((x, y))
        return saved, pending

    def backward(self, saved, targets):
        total, pending = 0.0, []
        for m, (x, y) in enumerate(saved):
            if self.last:
                loss = nn.functional.mse_loss(y.squeeze(1), targets[m]) / self.micro
                loss.backward()
                total += loss.item()
            else:
                grad = torch.empty_like(y)
                dist.recv(grad, src=self.rank + 1, tag=1000 + m)
                y.backward(grad)
            if not self.first:
                out = x.grad.contiguous()
                pending.append((dist.isend(out, dst=self.rank - 1, tag=1000 + m), out))
        return total, pending

    def step(self, inputs, targets, rows):
        saved, sends = self.forward(inputs, rows)
        loss, more = self.backward(saved, targets)
        for work, _ in sends + more:
            work.wait()
        return loss
