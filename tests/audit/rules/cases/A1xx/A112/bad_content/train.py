import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)

    def forward(self, x):
        use_second = torch.equal(x, torch.ones(4, 8))
        if use_second:
            return self.second(self.first(x))
        return self.first(x)


def build(rank):
    return DDP(Net().cuda(rank), device_ids=[rank], find_unused_parameters=False)
