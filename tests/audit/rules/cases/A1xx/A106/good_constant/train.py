import os
from pathlib import Path

import numpy as np
import torch.distributed as dist

CACHE = Path("cache.npy")
OTHER = Path("other.npy")


def is_main():
    return int(os.environ.get("RANK", "0")) == 0


def write(raw):
    np.save(CACHE, np.load(raw) * 2)


def waited_for(raw):
    if is_main():
        write(raw)
    dist.barrier()
    return np.load(CACHE)


def another_file(raw):
    if is_main():
        write(raw)
    return np.load(OTHER)


def own_name(raw, CACHE):
    if is_main():
        write(raw)
    return np.load(CACHE)
