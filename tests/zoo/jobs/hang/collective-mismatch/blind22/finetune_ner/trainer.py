import os

import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from metrics import Averager


class Trainer:
    def __init__(self, model, train, val, out, lr=0.02, batch=32):
        self.model = DistributedDataParallel(model)
        self.sampler = DistributedSampler(train, seed=11)
        self.train_loader = DataLoader(train, batch_size=batch, sampler=self.sampler)
        self.val_loader = DataLoader(val, batch_size=batch, sampler=DistributedSampler(val, shuffle=False))
        self.opt = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)
        self.out = out
        self.best = float("inf")

    def fit(self, epochs):
        for epoch in range(epochs):
            self.sampler.set_epoch(epoch)
            self.model.train()
            for x, y in self.train_loader:
                self.opt.zero_grad()
                cross_entropy(self.model(x), y).backward()
                self.opt.step()
            val = self.validate()
            if dist.get_rank() == 0:
                print(f"epoch {epoch:2d}  val {val:.4f}  best {min(val, self.best):.4f}", flush=True)
            if val < self.best:
                self.best = val
                self.save(epoch)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        mean = Averager()
        for x, y in self.val_loader:
            mean.update(cross_entropy(self.model.module(x), y).item(), len(y))
        return mean.compute()

    def save(self, epoch):
        os.makedirs(self.out, exist_ok=True)
        if dist.get_rank() == 0:
            torch.save({"epoch": epoch, "model": self.model.module.state_dict()}, os.path.join(self.out, "best.pt"))
        dist.barrier()
