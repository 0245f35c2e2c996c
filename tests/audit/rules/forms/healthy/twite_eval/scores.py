from collections import defaultdict

import torch
import torch.distributed as dist


class TaskScores:
    def __init__(self, device):
        self.device = device
        self.sums = defaultdict(lambda: torch.zeros(2, dtype=torch.float64, device=device))

    def add(self, task, hits, count):
        self.sums[task] += torch.tensor([hits, count], dtype=torch.float64, device=self.device)

    def merge(self):
        merged = {}
        seen = [None] * dist.get_world_size()
        dist.all_gather_object(seen, list(self.sums))
        for task in sorted({t for names in seen for t in names}):
            pair = self.sums[task]
            dist.all_reduce(pair)
            merged[task] = (pair[0] / pair[1]).item()
        return merged
