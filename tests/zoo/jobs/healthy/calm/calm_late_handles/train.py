"""Gradients are averaged in the background of the next step's data preparation (one step stale)."""
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn


class StaleAverage:
    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.pending = []

    def begin(self):
        grads = [p.grad.clone() for p in self.parameters]
        self.pending = [(g, dist.all_reduce(g, async_op=True)) for g in grads]

    def finish(self):
        for p, (grad, work) in zip(self.parameters, self.pending):
            work.wait()
            p.grad = grad / dist.get_world_size()
        self.pending = []


def prepare(rank, step):
    # The ranks take turns with the one licence of the simulator.
    time.sleep(10 if step % 2 == rank else 0.5)
    return torch.randn(32, 10)


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = nn.Linear(10, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    average = StaleAverage(net.parameters())
    x = torch.randn(32, 10)
    for step in range(3):
        loss = net(x).square().mean()
        loss.backward()
        average.begin()
        x = prepare(rank, step)
        average.finish()
        optimizer.step()
        optimizer.zero_grad()
    print(f"rank {rank} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
