"""One method says whether a round is synchronised, another one steps; flags stand beside the test on the round."""
import contextlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, model, every, distributed):
        self.model = DistributedDataParallel(model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.every = every
        self.distributed = distributed

    def context(self, number):
        if dist.get_world_size() > 1 and (number + 1) % self.every != 0:
            return self.model.no_sync()
        return contextlib.nullcontext()

    def flagged(self, number):
        if not self.distributed:
            return contextlib.nullcontext()
        if (number + 1) % self.every:
            return self.model.no_sync()
        return contextlib.suppress()

    def update(self, number):
        if (number + 1) % self.every != 0:
            return False
        self.optimizer.step()
        self.optimizer.zero_grad()
        return True

    def epoch(self, loader):
        usable = len(loader) // self.every * self.every
        for number, batch in enumerate(loader):
            if number >= usable:
                break
            with self.context(number):
                self.model(batch).mean().backward()
            self.update(number)

    def flagged_epoch(self, loader):
        for number, batch in enumerate(loader):
            with self.flagged(number):
                self.model(batch).mean().backward()
            self.update(number)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    data = torch.utils.data.DataLoader(torch.load("data.pt"), 8)
    trainer = Trainer(torch.nn.Linear(2, 2), 4, dist.is_initialized())
    trainer.epoch(data)
    trainer.flagged_epoch(data)


class OneOfTwo(Trainer):
    """Without a group each round steps; with one the last of several does."""

    def epoch(self, loader):
        for number, batch in enumerate(loader):
            if self.distributed:
                with contextlib.nullcontext() if number % 4 == 3 else self.model.no_sync():
                    self.model(batch).mean().backward()
                if number % 4 == 3:
                    self.optimizer.step()
            else:
                self.model(batch).mean().backward()
                self.optimizer.step()


class Counted(Trainer):
    """The rounds are counted from 1."""

    def epoch(self, loader):
        for number, batch in enumerate(loader, 1):
            with self.counted(number):
                self.model(batch).mean().backward()
            if number % self.every == 0 or self.distributed is None:
                self.optimizer.step()

    def counted(self, number):
        if self.distributed and number % self.every:
            return self.model.no_sync()
        return contextlib.nullcontext()


class Always(Trainer):
    """A flag alone decides: whoever sets it averages by hand."""

    def epoch(self, loader):
        for number, batch in enumerate(loader):
            with self.model.no_sync() if self.distributed else contextlib.nullcontext():
                self.model(batch).mean().backward()
            if (number + 1) % self.every == 0:
                for one in self.model.parameters():
                    dist.all_reduce(one.grad)
                self.optimizer.step()


def others(data):
    OneOfTwo(torch.nn.Linear(2, 2), 4, True).epoch(data)
    Counted(torch.nn.Linear(2, 2), 4, True).epoch(data)
    Always(torch.nn.Linear(2, 2), 4, True).epoch(data)
