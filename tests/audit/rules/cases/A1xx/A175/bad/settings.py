from datetime import timedelta

import torch.distributed as dist

LIMIT_S = 3
LIMIT = timedelta(seconds=LIMIT_S)


def begin():
    dist.init_process_group("gloo", timeout=LIMIT)
