import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from panel import Panel


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    panel = Panel() if rank == 0 else None
    model = DDP(torch.nn.Linear(64, 64))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(40):
        x = torch.randn(8, 64)
        opt.zero_grad()
        (model(x) - x).square().mean().backward()
        opt.step()
        if panel:
            panel.show(step, model.module.weight.detach().numpy().copy())
    dist.barrier()
    if panel:
        panel.close()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
