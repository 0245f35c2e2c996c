import os

import torch.distributed as dist

if "RANK" in os.environ:
    dist.init_process_group("gloo")
    local_rank = int(os.environ["LOCAL_RANK"])
