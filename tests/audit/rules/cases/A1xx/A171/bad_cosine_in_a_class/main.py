import math

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Squares(Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, index):
        return torch.ones(4) * index


class Job:
    def __init__(self, settings):
        self.data = Squares()
        self.sampler = DistributedSampler(self.data)
        self.loader = DataLoader(self.data, settings["batch"], sampler=self.sampler)
        self.net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        rounds = math.ceil(len(self.loader.dataset) / settings["batch"])
        self.rate = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=rounds * settings["epochs"])

    def run(self, epochs):
        for epoch in range(epochs):
            self.sampler.set_epoch(epoch)
            for batch in self.loader:
                self.net(batch).sum().backward()
                self.optimizer.step()
                self.rate.step()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    Job({"batch": 32, "epochs": 5}).run(5)
