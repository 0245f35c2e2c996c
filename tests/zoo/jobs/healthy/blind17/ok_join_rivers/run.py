import logging
import os

import torch.distributed as dist
import torch.multiprocessing as mp

from rivers.fit import Fit


def worker(rank, world):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    dist.init_process_group("gloo", rank=rank, world_size=world)
    Fit(rank).run()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29713")
    mp.spawn(worker, args=(3,), nprocs=3)
