import torch
import torch.distributed as dist
from shards import Shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def fit(model, loader):
    for batch in loader:
        model(batch).sum().backward()


def main(dataset, held_back):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(torch.nn.Linear(2, 1))
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    fit(model, loader)
    fit(model, DataLoader(Shard("train")))
    part = DataLoader(dataset[rank :: dist.get_world_size()], batch_size=4)
    fit(model, part)
    val_loader = DataLoader(held_back, batch_size=4)
    if rank == 0:
        report = DataLoader(held_back, batch_size=4)
        fit(model.module, report)
    return val_loader


if __name__ == "__main__":
    main(torch.ones(64, 2), torch.ones(8, 2))
