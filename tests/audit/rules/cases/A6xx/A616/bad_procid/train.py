import os

import torch.distributed as dist


def setup():
    rank = int(os.environ["SLURM_PROCID"])
    os.environ["RANK"] = str(rank)
    os.environ["WORLD_SIZE"] = os.environ["SLURM_NTASKS"]
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = "29500"
    dist.init_process_group("nccl")
