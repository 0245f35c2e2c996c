import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

def evaluate(model, loader, cfg, **kwargs):
    distributed = kwargs.get("distributed", False)
    total = torch.zeros(1)
    for x, y in loader:
        total += (model(x) == y).sum()
    if distributed:
        dist.all_reduce(total)
    if cfg.get("distributed", False):
        dist.barrier()
    return total


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(4, 4))
    data = torch.utils.data.TensorDataset(torch.rand(10, 4), torch.rand(10))
    loader = DataLoader(data)
    if rank == 0:
        print(evaluate(model.module, loader, {"name": "val"}, distributed=True))

    dist.destroy_process_group()


if __name__ == "__main__":
    main()
