import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank, world):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = "12355"
    dist.init_process_group("nccl", rank=rank, world_size=world)


if __name__ == "__main__":
    world = torch.cuda.device_count()
    mp.spawn(work, args=(world,), nprocs=world)
