import torch
import torch.distributed as dist


class Mean:
    def __init__(self):
        self.values = []

    def reduce(self):
        pair = torch.tensor([sum(self.values), float(len(self.values))])
        dist.all_reduce(pair)
        return (pair[0] / pair[1]).item()


class Spread:
    """Smallest and largest value over all ranks."""

    def __init__(self):
        self.values = []

    def reduce(self):
        mine = torch.cat(self.values)
        ends = torch.stack([mine.min(), mine.max()])
        parts = [torch.zeros(2) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, ends)
        return min(p[0] for p in parts).item(), max(p[1] for p in parts).item()


class Meters:
    def __init__(self):
        self.meters = {}

    def add(self, name, value):
        self.meters.setdefault(name, Mean()).values.append(value)

    def append(self, name, values):
        self.meters.setdefault(name, Spread()).values.append(values)

    def synchronised(self):
        return {name: meter.reduce() for name, meter in sorted(self.meters.items())}
