import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler, TensorDataset


def order_of(ds):
    if dist.is_available() and dist.is_initialized():
        return DistributedSampler(ds, shuffle=True)
    return RandomSampler(ds)


class Data:
    def __init__(self, path, batch):
        blob = torch.load(path, map_location="cpu", weights_only=True)
        self.classes = int(blob["y"].max()) + 1
        self.inputs = blob["x"].size(1)
        ds = TensorDataset(blob["x"], blob["y"])
        self.order = order_of(ds)
        self.loader = DataLoader(ds, batch, sampler=self.order, drop_last=True, pin_memory=True)

    def epoch(self, n):
        if isinstance(self.order, DistributedSampler):
            self.order.set_epoch(n)
        return self.loader
