import torch
import torch.distributed as dist


class Prototypes:
    def __init__(self, classes, width):
        self.table = torch.randn(classes, width)

    def pull_towards(self, points, rate=0.05):
        nearest = torch.cdist(points, self.table).argmin(1)
        sums, counts = torch.zeros_like(self.table), torch.zeros(len(self.table), 1)
        sums.index_add_(0, nearest, points)
        counts.index_add_(0, nearest, torch.ones(len(points), 1))
        both = torch.cat([sums, counts], dim=1)
        dist.all_reduce(both)
        means = both[:, :-1] / both[:, -1:].clamp(min=1)
        self.table += rate * (means - self.table)
