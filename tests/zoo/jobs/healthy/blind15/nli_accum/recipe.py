import contextlib
import math

import torch
from torch import nn


def cosine(opt, total, warmup):
    def factor(n):
        if n < warmup:
            return n / warmup
        return 0.5 * (1 + math.cos(math.pi * (n - warmup) / (total - warmup)))
    return torch.optim.lr_scheduler.LambdaLR(opt, factor)


class Accumulator:
    """Steps every k micro-batches and once more for what is left of an epoch."""

    def __init__(self, model, opt, schedule, k, clip=1.0):
        self.model, self.opt, self.schedule, self.k, self.clip = model, opt, schedule, k, clip
        self.updates = 0

    def epoch(self, batches, loss_fn):
        n, total = len(batches), 0.0
        for i, (x, y) in enumerate(batches):
            left = n - i // self.k * self.k
            size = min(self.k, left)
            flush = (i + 1) % self.k == 0 or i + 1 == n
            with contextlib.nullcontext() if flush else self.model.no_sync():
                loss = loss_fn(self.model(x), y)
                (loss / size).backward()
            total += loss.item()
            if flush:
                nn.utils.clip_grad_norm_([p for p in self.model.parameters() if p.requires_grad], self.clip)
                self.opt.step()
                self.schedule.step()
                self.opt.zero_grad(set_to_none=True)
                self.updates += 1
        return total / n
