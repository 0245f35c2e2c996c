import torch
import torch.distributed as dist



class Queue:
    def __init__(self, world):
        self.rank = dist.get_rank()
        self.lengths = [0] * world

    def add(self, count):
        self.lengths[self.rank] += count

    def collect(self, x, parts):
        target = self.lengths.index(min(self.lengths))
        dist.gather(x, parts, dst=target)


def exploit(net, scores, steps):
    losses = torch.zeros(len(scores))
    losses[dist.get_rank()] += net.step()
    if steps < 2:
        dist.all_reduce(losses)
    best = int(losses.argmin())
    dist.broadcast(net.weight, src=best)
