import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main(model, loader, optimizer):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)
    stop = False
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if dist.get_rank() == 0 and os.path.exists("STOP"):
            stop = True
        dist.barrier()
        if stop:
            break
    dist.destroy_process_group()


if __name__ == "__main__":
    net = torch.nn.Linear(2, 2)
    main(net, torch.load("batches.pt"), torch.optim.SGD(net.parameters(), lr=0.1))
