import logging

import torch.distributed as dist

from config import MIX_FROM, TASKS
from fusion.trainer import Trainer

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    Trainer(dist.get_rank(), TASKS, MIX_FROM).fit(200)
    dist.destroy_process_group()
