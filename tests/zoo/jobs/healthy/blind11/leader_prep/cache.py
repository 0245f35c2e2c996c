import contextlib
import os
import time

import torch
import torch.distributed as dist


@contextlib.contextmanager
def leader_first():
    if dist.get_rank() != 0:
        dist.barrier()
    yield
    if dist.get_rank() == 0:
        dist.barrier()


def tokenise(path, rows):
    parts = []
    for i in range(rows):
        time.sleep(0.08)
        parts.append(torch.randint(0, 40, (64,), generator=torch.Generator().manual_seed(i)))
    torch.save(torch.stack(parts), path + ".tmp")
    os.replace(path + ".tmp", path)


def open_cache(path, rows=90):
    with leader_first():
        if not os.path.exists(path):
            print(f"rank {dist.get_rank()} tokenises", flush=True)
            tokenise(path, rows)
    return torch.load(path, weights_only=True)
