import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(index, gpus):
    rank = int(os.environ["NODE_RANK"]) * gpus + index
    dist.init_process_group("nccl", rank=rank, world_size=gpus * 2)


if __name__ == "__main__":
    mp.spawn(worker, args=(8,), nprocs=8)
