import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def evaluate(model, loader):
    model.eval()
    total = 0.0
    for batch in loader:
        with torch.no_grad():
            total += model(batch).sum().item()
    return total


def run(rank, num_devices, loader, net):
    dist.init_process_group("gloo", rank=rank, world_size=num_devices)
    model = net
    if num_devices > 1:
        model = DistributedDataParallel(model)
    for epoch in range(9):
        for batch in loader:
            model(batch).sum().backward()
        if rank == 0:
            print(evaluate(model.module if isinstance(model, DistributedDataParallel) else model, loader))


if __name__ == "__main__":
    import torch.multiprocessing as mp
    mp.spawn(run, args=(4, [torch.ones(2)], torch.nn.Linear(2, 2)), nprocs=4)
