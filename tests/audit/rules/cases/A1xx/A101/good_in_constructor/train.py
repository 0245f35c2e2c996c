import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler


class Trainer:
    def __init__(self, dataset):
        dist.init_process_group("gloo")
        self.dataset = dataset
        self.loader = self._make_loader()

    def _make_loader(self):
        if dist.is_initialized():
            sampler = DistributedSampler(self.dataset)
        else:
            sampler = RandomSampler(self.dataset)
        return DataLoader(self.dataset, sampler=sampler)

    def fit(self):
        for batch in self.loader:
            print(batch)


if __name__ == "__main__":
    Trainer(torch.ones(64, 2)).fit()
