import contextlib
import logging
import os

import torch.distributed as dist
import torch.multiprocessing as mp

from .task import Task

log = logging.getLogger("service")


@contextlib.contextmanager
def process_group(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    try:
        yield
    except Exception as err:
        log.warning("rank %d leaves: %s", rank, type(err).__name__)
    finally:
        dist.destroy_process_group()


def entry(rank, world):
    logging.basicConfig(level=logging.INFO)
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(world))
    with process_group(rank, world):
        Task(rank, world).run()


def serve(world=2):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29644")
    mp.start_processes(entry, args=(world,), nprocs=world, start_method="spawn")
    log.info("all workers returned")
