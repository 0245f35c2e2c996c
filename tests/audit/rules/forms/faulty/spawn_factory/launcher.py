import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def distributed(nprocs, backend="gloo"):
    """Decorator: runs the function on nprocs ranks of this host."""
    port = free_port()

    def wrap(fn):
        def entry(rank, *args):  # cause
            os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
            torch.set_num_threads(1)
            dist.init_process_group(backend, rank=rank, world_size=nprocs)
            try:
                fn(*args)
            finally:
                dist.destroy_process_group()

        def call(*args):
            mp.spawn(entry, args=args, nprocs=nprocs, join=True)  # cause

        return call

    return wrap
