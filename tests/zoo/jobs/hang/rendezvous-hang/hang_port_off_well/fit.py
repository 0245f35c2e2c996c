import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DDP(torch.nn.Linear(3, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(25):
        x = torch.rand(8, 3)
        opt.zero_grad()
        (model(x) - x.prod(1, keepdim=True)).square().mean().backward()
        opt.step()
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)
