import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from engine.sync import others_wait, wait_for_main


class Engine:
    def __init__(self, epochs, eval_seconds):
        self.epochs, self.eval_seconds = epochs, eval_seconds
        self.model = DistributedDataParallel(nn.Linear(8, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)

    def train(self):
        for epoch in range(self.epochs):
            for _ in range(20):
                x = torch.randn(8, 8)
                self.optimizer.zero_grad()
                (self.model(x) - x.sum(1, keepdim=True)).square().mean().backward()
                self.optimizer.step()
            if dist.get_rank() == 0:
                with others_wait():
                    print(f"epoch {epoch} error {self.decode_all():.4f}", flush=True)
            else:
                wait_for_main()

    @torch.no_grad()
    def decode_all(self):
        """Beam search over the development set, one sequence after the other."""
        error, count, end = 0.0, 0, time.monotonic() + self.eval_seconds
        while time.monotonic() < end:
            x = torch.randn(1, 8)
            error += (self.model.module(x) - x.sum()).abs().item()
            count += 1
            time.sleep(0.01)
        return error / count
