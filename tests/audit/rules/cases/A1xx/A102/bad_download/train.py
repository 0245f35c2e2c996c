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


def main(model):
    unpack("data.tar", "data")
    dist.init_process_group("gloo")
    model = DistributedDataParallel(model)


if __name__ == "__main__":
    main(make())
