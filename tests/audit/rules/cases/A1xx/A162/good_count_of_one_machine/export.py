import os

import torch
import torch.distributed as dist


def begin():
    rank = int(os.environ["LOCAL_RANK"])
    world_size = torch.cuda.device_count()
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world_size)


if __name__ == "__main__":
    begin()
    dist.destroy_process_group()
