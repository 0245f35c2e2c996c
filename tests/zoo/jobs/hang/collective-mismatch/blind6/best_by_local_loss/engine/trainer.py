import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from engine.saver import ShardedSaver


class Trainer:
    def __init__(self, config, train_set, valid_set):
        torch.manual_seed(0)
        self.config = config
        self.model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2)))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=config.lr)
        self.loss = nn.CrossEntropyLoss()
        self.train_loader = DataLoader(train_set, batch_size=config.batch_size)
        self.valid_loader = DataLoader(valid_set, batch_size=config.batch_size)
        self.saver = ShardedSaver()
        self.moments = torch.zeros(64)
        self.best = float("inf")

    def fit(self):
        for epoch in range(self.config.epochs):
            self.train_epoch()
            loss = self.validate()
            print(f"rank {dist.get_rank()} epoch {epoch} loss {loss:.4f} best {self.best:.4f}", flush=True)
            if loss < self.best:
                self.best = loss
                self.saver.save(self.model.module, self.moments, epoch)

    def train_epoch(self):
        self.model.train()
        for x, y in self.train_loader:
            self.optimizer.zero_grad()
            self.loss(self.model(x), y).backward()
            self.optimizer.step()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        total = torch.zeros(2)
        for x, y in self.valid_loader:
            total[0] += self.loss(self.model.module(x), y) * len(y)
            total[1] += len(y)
        dist.reduce(total, dst=0, op=dist.ReduceOp.SUM)
        return (total[0] / total[1]).item()
