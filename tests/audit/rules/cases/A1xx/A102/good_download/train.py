import os
import shutil

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def rank():
    return dist.get_rank() if dist.is_initialized() else 0


def unpack(archive, folder):
    if rank() == 0:
        shutil.unpack_archive(archive, folder)
    if dist.is_initialized():
        dist.barrier()


def by_environment(archive, folder):
    number = dist.get_rank() if dist.is_initialized() else int(os.environ.get("RANK", 0))
    if number == 0:
        shutil.unpack_archive(archive, folder)


def main(model):
    by_environment("more.tar", "data")
    dist.init_process_group("gloo")
    unpack("data.tar", "data")
    model = DistributedDataParallel(model)


if __name__ == "__main__":
    main(make())
