import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, DistributedSampler


def get_world_size():
    if not dist.is_initialized():
        return 1
    return dist.get_world_size()


def get_rank():
    return dist.get_rank() if dist.is_initialized() else 0


def make_loader(data):
    sampler = DistributedSampler(data, num_replicas=get_world_size(), rank=get_rank())
    return DataLoader(data, sampler=sampler)


def worker(rank, world_size, data):
    loader = make_loader(data)
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    for batch in loader:
        print(batch)


if __name__ == "__main__":
    mp.spawn(worker, args=(2, list(range(8))), nprocs=2)
