import os
import subprocess

import torch.distributed as dist


def from_slurm():
    names = subprocess.check_output(["scontrol", "show", "hostnames", os.environ["SLURM_JOB_NODELIST"]], text=True)
    os.environ["MASTER_ADDR"] = names.split()[0]
    dist.init_process_group("nccl")
    print("submitted from", os.environ["SLURM_SUBMIT_HOST"])


def by_launch_node(rank, world_size):
    host = os.environ.get("SLURM_LAUNCH_NODE_IPADDR")
    dist.init_process_group("nccl", init_method=f"tcp://{host}:29512", rank=rank, world_size=world_size)
