import functools

import torch
import torch.distributed as dist


def single(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        return fn(*args, **kwargs) if dist.get_rank() == 0 else None

    return inner


class Scores:
    def on_epoch_end(self, loop):
        self.write(loop.epoch, loop.evaluate())

    @single
    def write(self, epoch, score):
        print(epoch, score)


class Server:
    """Rank 0 hands out what the others ask for, each in a branch of its own."""

    def on_epoch_end(self, loop):
        (self.give if dist.get_rank() == 0 else self.take)(loop)

    def give(self, loop):
        dist.broadcast(loop.weights, src=0)

    def take(self, loop):
        dist.broadcast(loop.weights, src=0)


class Pairs:
    def __init__(self):
        self.group = dist.new_group([0, 1])

    def on_epoch_end(self, loop):
        if dist.get_rank() < 2:
            self.meet(loop)

    def meet(self, loop):
        dist.all_reduce(loop.weights, group=self.group)


class Loop:
    def __init__(self, hooks):
        self.hooks = hooks
        self.weights = torch.zeros(4)

    def evaluate(self):
        total = torch.zeros(2)
        dist.all_reduce(total)
        return total[0] / total[1]

    def fit(self):
        for self.epoch in range(9):
            for one in self.hooks:
                one.on_epoch_end(self)


if __name__ == "__main__":
    dist.init_process_group("nccl")
    Loop([Scores(), Server(), Pairs()]).fit()
    dist.destroy_process_group()
