import torch
import torch.distributed as dist


class ClassIoU:
    def __init__(self, index, name):
        self.index, self.name = index, name
        self.reset()

    def reset(self):
        self.inter = 0.0
        self.union = 0.0
        self.support = 0

    def update(self, pred, target):
        p, t = pred == self.index, target == self.index
        self.support += int(t.sum())
        if t.any():
            self.inter += (p & t).sum().item()
            self.union += (p | t).sum().item()

    def compute(self):
        if self.support == 0:
            return float("nan")
        state = torch.tensor([self.inter, self.union], dtype=torch.float64)
        if dist.is_initialized():
            dist.all_reduce(state)
        return (state[0] / state[1].clamp(min=1)).item()


class MetricCollection:
    def __init__(self, names):
        self.items = [ClassIoU(i, n) for i, n in enumerate(names)]

    def reset(self):
        for m in self.items:
            m.reset()

    def update(self, pred, target):
        for m in self.items:
            m.update(pred, target)

    def compute(self):
        return {m.name: m.compute() for m in self.items}
