import torch
import torch.distributed as dist


class MeanMetric:
    def __init__(self):
        self.reset()

    def reset(self):
        self.total, self.weight = torch.zeros(()), torch.zeros(())

    def update(self, value, weight=1):
        self.total += value * weight
        self.weight += weight

    def compute(self):
        both = torch.stack([self.total, self.weight])
        if dist.is_available() and dist.is_initialized():
            dist.all_reduce(both)
        return (both[0] / both[1]).item()
