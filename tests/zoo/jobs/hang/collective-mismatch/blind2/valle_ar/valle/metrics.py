import collections

import torch
import torch.distributed as dist


class MetricsTracker(collections.defaultdict):

    def __init__(self):
        super().__init__(float)

    def __add__(self, other):
        ans = MetricsTracker()
        for source in (self, other):
            for k, v in source.items():
                ans[k] = ans[k] + v
        return ans

    def __mul__(self, alpha):
        ans = MetricsTracker()
        for k, v in self.items():
            ans[k] = v * alpha
        return ans

    def __str__(self):
        return ", ".join(f"{k}={v / self['frames']:.4g}" for k, v in self.items() if k != "frames")

    def reduce(self):
        keys = sorted(self)
        s = torch.tensor([float(self[k]) for k in keys])
        dist.reduce(s, dst=0, op=dist.ReduceOp.SUM)
        for k, v in zip(keys, s.tolist()):
            self[k] = v
