import os
import tempfile
from contextlib import contextmanager

import torch
import torch.distributed as dist
import shutil


@contextmanager
def leader():
    if dist.get_rank() != 0:
        dist.barrier()
    yield
    if dist.get_rank() == 0:
        dist.barrier()


def main():
    dist.init_process_group("gloo")
    with leader():
        if not os.path.exists("cache"):
            os.makedirs("cache")
    scratch = tempfile.mkdtemp()
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
