import torch
import torch.distributed as dist


def everyone(flag):
    t = torch.tensor(int(flag))
    dist.all_reduce(t, op=dist.ReduceOp.MIN)
    return bool(t)


def mean(x):
    t = torch.tensor(float(x))
    dist.all_reduce(t)
    return t.item() / dist.get_world_size()


class Patience:
    def __init__(self, n, delta):
        self.n, self.delta, self.best, self.bad = n, delta, float("inf"), 0

    def exhausted(self, value):
        if value < self.best - self.delta:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad >= self.n
