import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        self.reentrant = reentrant
        self.block = nn.Linear(8, 8)

    def forward(self, x):
        return checkpoint(self.block, x, use_reentrant=self.reentrant)


class Seen(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Linear(8, 8)
        self.aux = nn.Linear(8, 2)

    def forward(self, x):
        return checkpoint(self.block, x, use_reentrant=False)


def main():
    dist.init_process_group("nccl")
    every = DDP(Net(True).cuda())  # every parameter is used: nothing is searched for
    every(torch.load("data.pt")).sum().backward()
    static = DDP(Net(True).cuda(), find_unused_parameters=True, static_graph=True)
    static(torch.load("data.pt")).sum().backward()
    seen = DDP(Seen().cuda(), find_unused_parameters=True)
    seen(torch.load("data.pt")).sum().backward()


if __name__ == "__main__":
    main()
