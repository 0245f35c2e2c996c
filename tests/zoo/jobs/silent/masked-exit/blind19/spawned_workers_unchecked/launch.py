"""Own little launcher, since the cluster image has no torchrun."""
import os
import socket

import torch.multiprocessing as mp


def _port():
    with socket.socket() as s:
        s.bind(("", 0))
        return s.getsockname()[1]


def _entry(fn, rank, world, port, args):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    fn(rank, world, *args)


def launch(fn, world, *args):
    ctx = mp.get_context("spawn")
    port = _port()
    procs = [ctx.Process(target=_entry, args=(fn, r, world, port, args)) for r in range(world)]
    for p in procs:
        p.start()
    for p in procs:
        p.join()
