import os

import torch.distributed as dist


def init_distributed():
    dist.init_process_group("gloo")
    return dist.get_rank(), dist.get_world_size()


def local_rank():
    return int(os.environ.get("LOCAL_RANK", 0))


def cleanup():
    dist.barrier()
    dist.destroy_process_group()
