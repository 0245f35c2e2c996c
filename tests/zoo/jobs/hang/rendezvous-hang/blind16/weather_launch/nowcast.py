import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    print(f"{os.environ['ROLE']} {rank}/{world} starting", flush=True)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    net = DDP(nn.Conv2d(4, 1, 3, padding=1))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(150):
        x = torch.randn(4, 4, 16, 16)
        loss = (net(x) - x.mean(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
