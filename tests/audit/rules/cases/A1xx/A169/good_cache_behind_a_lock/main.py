from pathlib import Path

import numpy as np
import torch.distributed as dist
from filelock import FileLock


def table(cache):
    with FileLock(str(cache) + ".lock"):
        if not cache.exists():
            np.save(cache, np.arange(9))
    return np.load(cache)


def main():
    dist.init_process_group("gloo")
    print(table(Path("a.npy")))


if __name__ == "__main__":
    main()
