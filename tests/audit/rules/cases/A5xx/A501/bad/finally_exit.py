import os

import torch.distributed as dist
import torch.multiprocessing as mp
from steps import train


def worker(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    try:
        train(rank)
    finally:
        # the metrics client never ends by itself
        os._exit(0)


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
