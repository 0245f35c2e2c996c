import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def entry(rank, fn, backend, world, port, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group(backend, rank=rank, world_size=world)
    try:
        fn(*args)
    finally:
        dist.destroy_process_group()


def distributed(nprocs, backend="gloo"):
    """Decorator: runs the function on nprocs ranks of this host."""
    def wrap(fn):
        def call(*args):
            mp.spawn(entry, args=(fn, backend, nprocs, free_port(), args), nprocs=nprocs, join=True)

        return call

    return wrap
