import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Engine:
    def __init__(self):
        self.model = DDP(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)))

    def validate(self, loader):
        return sum((self.model(x).argmax(1) == y).sum().item() for x, y in loader)

    def train(self, loader, valid):
        for x, y in loader:
            nn.functional.cross_entropy(self.model(x), y).backward()
            if dist.get_rank() == 0:
                print(self.validate(valid))
