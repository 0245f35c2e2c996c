import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(64, 64) for _ in range(6)])
        self.head = nn.Linear(64, 8)

    def forward(self, x):
        for block in self.blocks:
            x = torch.relu(block(x))
        return self.head(x)


def stages(net):
    return [net.blocks[:2], net.blocks[2:4], net.blocks[4:]]


def set_trained(module, yes):
    for p in module.parameters():
        p.requires_grad_(yes)


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    net = Net().to(device)
    frozen = stages(net)
    for one in frozen:
        set_trained(one, False)
    model = DDP(net, device_ids=[device.index])  # cause
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    torch.manual_seed(dist.get_rank())
    for epoch in range(30):
        if epoch % 5 == 4 and frozen:
            set_trained(frozen.pop(), True)  # cause
        for _ in range(100):
            opt.zero_grad(set_to_none=True)
            model(torch.randn(32, 64, device=device)).square().mean().backward()
            opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
