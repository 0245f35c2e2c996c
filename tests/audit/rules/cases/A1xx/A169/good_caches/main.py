import os
from pathlib import Path

import numpy as np
import torch.distributed as dist


def by_one(cache):
    if dist.get_rank() == 0 and not cache.exists():
        np.save(cache, np.arange(9))
    dist.barrier()
    return np.load(cache)


def of_own(folder):
    cache = Path(folder) / f"part{dist.get_rank()}.npy"
    if not cache.exists():
        np.save(cache, np.arange(9))
    return np.load(cache)


def moved(cache):
    if not cache.exists():
        beside = cache.with_suffix(f".{os.getpid()}.npy")
        np.save(beside, np.arange(9))
        os.replace(beside, cache)
    return np.load(cache)


def main():
    dist.init_process_group("gloo")
    print(by_one(Path("a.npy")), of_own("b"), moved(Path("c.npy")))


if __name__ == "__main__":
    main()
