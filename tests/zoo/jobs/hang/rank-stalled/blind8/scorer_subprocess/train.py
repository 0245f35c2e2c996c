import json
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from hooks import HookList, LogHook, ScoreHook


class Runner:
    def __init__(self, model, hooks, work):
        self.model, self.hooks, self.work = model, HookList(hooks), Path(work)
        self.optim = torch.optim.SGD(model.parameters(), lr=0.05)
        self.rank = dist.get_rank()
        self.epoch = 0
        self.loss = None

    def predictions(self):
        gen = torch.Generator().manual_seed(99)
        count = 60 * 4 ** (self.epoch + 1)
        with torch.no_grad():
            scores = self.model.module(torch.randn(count, 8, generator=gen)).squeeze(1)
        return [{"id": i, "score": round(float(s), 5)} for i, s in enumerate(scores)]

    def run(self, epochs):
        gen = torch.Generator().manual_seed(self.rank)
        for self.epoch in range(epochs):
            for _ in range(30):
                x = torch.randn(16, 8, generator=gen)
                self.loss = (self.model(x).squeeze(1) - x.sum(1)).square().mean()
                self.optim.zero_grad()
                self.loss.backward()
                self.optim.step()
            self.hooks.call("after_epoch", self)
            dist.barrier()


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as work:
        Runner(DDP(torch.nn.Linear(8, 1)), [LogHook(), ScoreHook()], work).run(5)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
