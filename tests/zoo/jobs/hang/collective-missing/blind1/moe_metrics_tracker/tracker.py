import torch
import torch.distributed as dist


class AuxLossTracker:
    """Sums of auxiliary losses by name, brought together once per logging interval."""

    def __init__(self, names):
        self.names = names
        self.sums = {}
        self.counts = {}

    def record(self, name, value):
        self.sums[name] = self.sums.get(name, 0.0) + float(value)
        self.counts[name] = self.counts.get(name, 0) + 1

    def sync(self):
        merged = {}
        for name in self.names:
            if not self.counts.get(name):
                continue
            pair = torch.tensor([self.sums[name], float(self.counts[name])])
            dist.all_reduce(pair)
            merged[name] = (pair[0] / pair[1]).item()
        self.sums.clear()
        self.counts.clear()
        return merged
