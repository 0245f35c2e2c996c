import contextlib

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Engine:
    def __init__(self, model, optimizer, rounds=1):
        self.model, self.optimizer = model, optimizer
        self.rounds = rounds
        self.done = 0

    def _context(self):
        last = self.done + 1 == self.rounds
        return contextlib.nullcontext() if last else self.model.no_sync()

    def backward(self, x):
        with self._context():
            (self.model(x).sum() / self.rounds).backward()
        self.done += 1

    def maybe_step(self):
        if self.done < self.rounds:
            return
        self.done = 0
        self.optimizer.step()
        self.optimizer.zero_grad()


def main():
    torch.distributed.init_process_group("nccl")
    model = DDP(nn.Linear(8, 8).cuda())
    engine = Engine(model, torch.optim.SGD(model.parameters(), lr=0.1), 4)
    for x in torch.load("data.pt"):
        engine.backward(x)
        engine.maybe_step()


if __name__ == "__main__":
    main()
