import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from hooks import Progress, WeightReport


class Trainer:
    def __init__(self, model, loader, sampler, hooks):
        self.model, self.loader, self.sampler, self.hooks = model, loader, sampler, hooks
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
        self.rank, self.step, self.loss = dist.get_rank(), 0, 0.0

    def fit(self, epochs):
        for epoch in range(epochs):
            self.sampler.set_epoch(epoch)
            for x, y in self.loader:
                loss = nn.functional.cross_entropy(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.step += 1
                self.loss = loss.item()
                for hook in self.hooks:
                    hook.after_step(self)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    g = torch.Generator().manual_seed(1)
    x = torch.randn(1280, 64, generator=g)
    y = (x @ torch.randn(64, 10, generator=g)).argmax(1)
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    model = DDP(nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)))
    Trainer(model, loader, sampler, [Progress(40), WeightReport(os.devnull)]).fit(3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
