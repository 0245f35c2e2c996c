from functools import cached_property

import torch
import torch.distributed as dist


class RunningStat:
    def __init__(self):
        self.values = []

    def add(self, v):
        self.values.append(float(v))

    def mean(self):
        return sum(self.values) / max(1, len(self.values))


class Progress:
    def __init__(self, local_samples, total_steps):
        self.local_samples, self.total_steps = local_samples, total_steps
        self.loss = RunningStat()

    @cached_property
    def samples(self):
        n = torch.tensor([self.local_samples])
        dist.all_reduce(n)
        return int(n)

    def line(self, step):
        done = 100 * step / self.total_steps
        return f"{done:5.1f}% of {self.samples} samples, loss {self.loss.mean():.4f}"


class Console:
    def __init__(self, progress, every=25):
        self.progress, self.every = progress, every
        self.on = dist.get_rank() == 0

    def __call__(self, step, loss):
        self.progress.loss.add(loss)
        if self.on and step % self.every == 0:
            print(self.progress.line(step), flush=True)
