import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, random_split

from traffic.sensors import LoopDetectors


class TrafficData:
    def __init__(self, windows, sensors, history, val_ratio, batch_size):
        dataset = LoopDetectors(windows, sensors, history)
        val_size = int(len(dataset) * val_ratio)
        self.train_set, self.val_set = random_split(dataset, [len(dataset) - val_size, val_size])
        self.batch_size = batch_size

    def train_loader(self):
        sampler = DistributedSampler(self.train_set, dist.get_world_size(), dist.get_rank(), drop_last=True)
        return DataLoader(self.train_set, self.batch_size, sampler=sampler, drop_last=True)

    def val_loader(self):
        sampler = DistributedSampler(self.val_set, dist.get_world_size(), dist.get_rank(), shuffle=False)
        return DataLoader(self.val_set, self.batch_size, sampler=sampler)


def jitter(inputs, scale):
    return inputs + scale * torch.randn_like(inputs)
