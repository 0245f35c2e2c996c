from collections import defaultdict

import torch
import torch.distributed as dist


class Meters:
    def __init__(self, device):
        self.device = device
        self.reset()

    def reset(self):
        self.sums = defaultdict(float)
        self.counts = defaultdict(int)

    def add(self, n=1, **values):
        for k, v in values.items():
            self.sums[k] += float(v) * n
            self.counts[k] += n

    def _pack(self):
        keys = sorted(self.sums)
        return keys, torch.tensor([[self.sums[k], self.counts[k]] for k in keys], device=self.device)

    def summary(self):
        keys, packed = self._pack()
        dist.all_reduce(packed)  # cause
        means = (packed[:, 0] / packed[:, 1].clamp(min=1)).tolist()
        return dict(zip(keys, means))
