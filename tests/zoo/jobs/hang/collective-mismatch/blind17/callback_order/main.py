import logging
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from settings import Settings
from trainer import Trainer


def worker(rank, world):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    gen = torch.Generator().manual_seed(40 + rank)

    def draw(n):
        x = torch.randn(n, 20, generator=gen)
        return x, (x[:, :4].prod(1, keepdim=True) + x[:, 5:6])

    Trainer(Settings()).fit(draw)
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29631")
    mp.spawn(worker, args=(2,), nprocs=2)
