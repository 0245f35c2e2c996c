from datetime import timedelta

import torch.distributed as dist
from data import prepare

dist.init_process_group("nccl", timeout=timedelta(seconds=60))
prepare("corpus")
