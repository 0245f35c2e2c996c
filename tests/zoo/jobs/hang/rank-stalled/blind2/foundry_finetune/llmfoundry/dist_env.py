import os

import torch.distributed as dist


def get_local_rank():
    return int(os.environ.get("LOCAL_RANK", "0"))


def get_node_rank():
    return int(os.environ.get("GROUP_RANK", "0"))


def barrier():
    if dist.is_available() and dist.is_initialized():
        dist.barrier()
