import time
from datetime import timedelta

import torch.distributed as dist


def connect(host, port, rank, world_size):
    return dist.TCPStore(host, port, world_size, is_master=(rank == 0), timeout=timedelta(seconds=30))


def store_barrier(store, world_size, tag, poll=0.005, timeout=30.0):
    key = f"bar/{tag}"
    store.add(key, 1)
    deadline = time.monotonic() + timeout
    while store.add(key, 0) < world_size:
        if time.monotonic() > deadline:
            raise TimeoutError(f"barrier {tag} was not reached by all {world_size} processes")
        time.sleep(poll)
