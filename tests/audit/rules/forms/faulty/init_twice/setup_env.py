import datetime
import os
import random

import torch
import torch.distributed as dist


def setup_distributed(seed):
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl", timeout=datetime.timedelta(minutes=20))  # cause
    random.seed(seed + dist.get_rank())
    torch.manual_seed(seed + dist.get_rank())
    return local_rank


def teardown():
    if dist.is_initialized():
        dist.destroy_process_group()
