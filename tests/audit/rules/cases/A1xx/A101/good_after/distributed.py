import os

import torch.distributed as dist


def setup_distributed():
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
        return True
    return False
