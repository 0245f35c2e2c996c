import torch
import torch.distributed as dist


def any_rank(flag):
    vote = torch.tensor(int(flag))
    dist.all_reduce(vote, op=dist.ReduceOp.MAX)
    return bool(vote)


class Patience:
    def __init__(self, limit):
        self.limit, self.best, self.bad = limit, float("inf"), 0

    def exhausted(self, value):
        self.bad = 0 if value < self.best - 1e-3 else self.bad + 1
        self.best = min(self.best, value)
        return self.bad >= self.limit
