import os

import torch.distributed as dist


def setup_dist(rank, world_size, master_port=None):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = "23654" if master_port is None else str(master_port)
    dist.init_process_group("gloo", rank=rank, world_size=world_size)


def cleanup_dist():
    dist.destroy_process_group()
