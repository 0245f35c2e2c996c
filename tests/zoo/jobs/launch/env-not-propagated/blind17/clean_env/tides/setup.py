import logging
import os

import torch.distributed as dist


def join(backend="gloo"):
    rank = int(os.environ["RANK"])
    logging.basicConfig(level=logging.INFO, format=f"{os.environ.get('JOB_NAME', 'job')}[{rank}] %(message)s")
    dist.init_process_group(backend, init_method="env://")
    return rank, dist.get_world_size()
