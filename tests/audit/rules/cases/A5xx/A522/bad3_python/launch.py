import os

import torch.distributed as dist


def from_slurm():
    os.environ["RANK"] = os.environ["SLURM_PROCID"]
    os.environ["WORLD_SIZE"] = os.environ["SLURM_NTASKS"]
    os.environ["MASTER_ADDR"] = os.environ["SLURM_SUBMIT_HOST"]
    os.environ["MASTER_PORT"] = "29512"
    dist.init_process_group("nccl")


def by_address(rank, world_size):
    host = os.environ.get("SLURM_SUBMIT_HOST", "localhost")
    dist.init_process_group("nccl", init_method=f"tcp://{host}:29512", rank=rank, world_size=world_size)
