import os

import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world):
    os.environ.setdefault("MASTER_PORT", "29512")
    dist.init_process_group("gloo", rank=rank, world_size=world)
    dist.barrier()


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
