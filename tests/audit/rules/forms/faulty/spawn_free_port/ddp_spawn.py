import os
import socket
from contextlib import closing

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def free_port():
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def _entry(rank, world, fn, args):
    url = f"tcp://127.0.0.1:{free_port()}"  # cause
    os.environ["LOCAL_RANK"] = str(rank)
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    if backend == "nccl":
        torch.cuda.set_device(rank)
    dist.init_process_group(backend, init_method=url, rank=rank, world_size=world)  # cause
    try:
        fn(rank, world, *args)
    finally:
        dist.destroy_process_group()


def launch(fn, world, *args):
    mp.spawn(_entry, args=(world, fn, args), nprocs=world, join=True)
