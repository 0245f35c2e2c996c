import torch
import torch.distributed as dist


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, value):
        self.total += value
        self.count += 1

    def average(self):
        both = torch.tensor([self.total, self.count], dtype=torch.float64)
        dist.all_reduce(both)
        return float(both[0] / both[1])
