import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Net(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(depth))
        self.aux = nn.Linear(8, 2)

    def forward(self, x, with_aux):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)
        return x, self.aux(x) if with_aux else None


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
        self.aux = nn.Linear(8, 2)

    def forward(self, x):
        return checkpoint_sequential(self.body, 2, x)


def train(net, data):
    model = DDP(net.cuda(), find_unused_parameters=True)
    optimizer = torch.optim.AdamW(model.parameters())
    for x in data:
        out = model(x, len(x) > 4)
        out[0].sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def main():
    dist.init_process_group("nccl")
    train(Net(), torch.load("data.pt"))
    stack = DDP(Stack().cuda(), find_unused_parameters=True)
    stack(torch.load("other.pt")).sum().backward()


if __name__ == "__main__":
    main()
