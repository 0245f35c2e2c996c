import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, Subset
from torch.utils.data.distributed import DistributedSampler


class Graphs(Dataset):
    def __init__(self, path):
        self.items = torch.load(path, map_location="cpu", weights_only=True)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        item = self.items[i]
        return item["nodes"], item["target"]


class DataModule:
    def __init__(self, train, valid, batch_size, workers):
        self.train = Graphs(train)
        self.valid = Graphs(valid)
        self.batch_size = batch_size
        self.workers = workers

    def train_loader(self):
        sampler = DistributedSampler(self.train, shuffle=True, drop_last=True)
        return DataLoader(self.train, self.batch_size, sampler=sampler, num_workers=self.workers, drop_last=True)

    def valid_loader(self):
        mine = Subset(self.valid, range(dist.get_rank(), len(self.valid), dist.get_world_size()))
        return DataLoader(mine, self.batch_size, num_workers=self.workers)
