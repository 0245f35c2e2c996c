import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from world import get_rank, get_world_size


class FreightData:
    def __init__(self, path, batch):
        blob = torch.load(path, map_location="cpu")
        self.train = TensorDataset(blob["x"], blob["eta"])
        self.features = blob["x"].shape[1]
        self.sampler = DistributedSampler(self.train, num_replicas=get_world_size(), rank=get_rank(), shuffle=True)
        self.loader = DataLoader(self.train, batch_size=batch, sampler=self.sampler, num_workers=2, drop_last=True)

    def epoch(self, n):
        self.sampler.set_epoch(n)
        return self.loader
