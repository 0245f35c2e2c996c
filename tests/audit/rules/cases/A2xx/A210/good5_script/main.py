import torch
import torch.distributed as dist
from torch import multiprocessing as mp


def run(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)
    x = torch.zeros(1)
    if rank == 0:
        dist.send(x, (rank + 1) % size)
        dist.recv(x, size - 1)
    else:
        dist.recv(x, rank - 1)
        dist.send(x, (rank + 1) % size)
    dist.barrier()


if __name__ == "__main__":
    mp.spawn(run, args=(2,), nprocs=2)
