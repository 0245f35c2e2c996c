#!/usr/bin/env python
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from srnet import SRNet, pairs

STEPS = int(os.environ.get("STEPS", 40))


def main():
    dist.init_process_group(backend="gloo")
    torch.manual_seed(3)
    net = DDP(SRNet())
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    low, high = pairs(64, seed=dist.get_rank())
    for step in range(STEPS):
        pick = torch.randint(64, (8,))
        loss = torch.nn.functional.l1_loss(net(low[pick]), high[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0 and dist.get_rank() == 0:
            print("step", step, "l1", round(loss.item(), 4), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
