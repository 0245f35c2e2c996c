import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

from sensors import SensorTable


class Engine:
    def __init__(self, rank, world, epochs):
        self.rank, self.world, self.epochs = rank, world, epochs
        table = SensorTable().shuffle(np.random.default_rng(2))
        train, test = table.cut(0.8)
        self.train = self.loader(SensorTable.shard(train, rank, world), True)
        self.test = self.loader(SensorTable.shard(test, rank, world), False)
        torch.manual_seed(0)
        self.net = DDP(nn.Sequential(nn.Linear(48, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 6)))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    @staticmethod
    def loader(part, train):
        x, y = part
        return DataLoader(TensorDataset(torch.from_numpy(x), torch.from_numpy(y)), batch_size=64, shuffle=train)

    def run(self):
        for epoch in range(self.epochs):
            self.net.train()
            for x, y in self.train:
                loss = nn.functional.cross_entropy(self.net(x), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            acc = self.score()
            if self.rank == 0:
                print(f"epoch {epoch} loss {loss.item():.3f} test {acc:.3f}", flush=True)

    @torch.no_grad()
    def score(self):
        self.net.eval()
        n = torch.zeros(2)
        for x, y in self.test:
            n += torch.tensor([(self.net(x).argmax(1) == y).sum(), len(y)])
        dist.all_reduce(n)
        return (n[0] / n[1]).item()
