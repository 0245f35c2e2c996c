import torch
import torch.distributed as dist


class Meter:
    def __init__(self, device):
        self.sum = torch.zeros((), device=device)
        self.n = torch.zeros((), device=device)

    def __iadd__(self, value):
        self.sum += value.detach()
        self.n += 1
        return self

    @property
    def mean(self):
        pair = torch.stack([self.sum, self.n])
        dist.all_reduce(pair)  # cause
        return (pair[0] / pair[1].clamp(min=1)).item()


class MeterBoard:
    def __init__(self, names, device):
        self.meters = {n: Meter(device) for n in names}

    def add(self, **values):
        for k, v in values.items():
            self.meters[k] += v

    def line(self):
        return "  ".join(f"{k} {m.mean:.4f}" for k, m in self.meters.items())  # cause
