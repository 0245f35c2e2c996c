import contextlib
import os
import random
import socket

import torch.distributed as dist
import torch.multiprocessing as mp


def free_port():
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def group(rank, world):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(free_port())
    dist.init_process_group("gloo", rank=rank, world_size=world)
    yield
    dist.destroy_process_group()


def worker(rank, world):
    with group(rank, world):
        dist.barrier()


def other(rank, world):
    os.environ.update({"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(random.randint(20000, 30000))})
    dist.init_process_group("gloo", rank=rank, world_size=world)


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
    mp.spawn(other, args=(2,), nprocs=2)
