import time

import torch.distributed as dist


def fails_on_one(seconds):
    if dist.get_rank() == 0:
        raise RuntimeError(f"rank {dist.get_rank()} does not come")
    else:
        time.sleep(seconds)
