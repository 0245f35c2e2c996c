import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Trainer:
    def __init__(self):
        data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
        self.sampler = DistributedSampler(data)
        self.loader = DataLoader(data, batch_size=4, sampler=self.sampler)
        self.model = DDP(torch.nn.Linear(4, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer)

    def epoch(self):
        total = 0.0
        for x, y in self.loader:
            self.optimizer.zero_grad()
            loss = (self.model(x) - y).pow(2).mean()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(self.loader)

    def after(self, metric):
        self.scheduler.step(metric)  # cause

    def fit(self):
        for epoch in range(10):
            self.sampler.set_epoch(epoch)
            self.after(self.epoch())  # cause


def main():
    dist.init_process_group("gloo")
    Trainer().fit()
    dist.destroy_process_group()


main()
