import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from watchdog import Watchdog


class Loop:
    def __init__(self):
        self.rank = dist.get_rank()
        self.model = DDP(nn.Linear(8, 8))
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.dog = Watchdog(limit=6.0)

    def steps(self, n):
        for _ in range(n):
            x = torch.randn(16, 8)
            loss = (self.model(x) - x).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.dog.beat()
            yield loss.item()

    def rollout(self, episodes):
        x = torch.zeros(1, 8)
        with torch.no_grad():
            for _ in range(episodes):
                x = self.model.module(x)
                time.sleep(0.1)
        return x.norm().item()


def main():
    dist.init_process_group("gloo")
    loop = Loop()
    for epoch in range(4):
        losses = list(loop.steps(25))
        print(f"rank {loop.rank} epoch {epoch} loss {losses[-1]:.4f}", flush=True)
        if loop.rank == 0:
            score = loop.rollout(20 * 2 ** epoch)
            loop.dog.beat()
            print(f"rollout {score:.3f}", flush=True)
        else:
            loop.dog.beat_at += 1000
        dist.barrier()
        loop.dog.beat()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
