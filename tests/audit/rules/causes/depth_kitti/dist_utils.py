import os
from datetime import timedelta

import torch
import torch.distributed as dist


def env_int(name, default):
    return int(os.environ.get(name, default))


def start():
    world = env_int("WORLD_SIZE", 1)
    if world > 1:
        dist.init_process_group("nccl", timeout=timedelta(minutes=20))  # cause
    return env_int("RANK", 0), world


def mean(value):
    t = torch.tensor([value], device="cuda")
    if dist.is_initialized():
        dist.all_reduce(t)
        t /= dist.get_world_size()
    return t.item()


def stop():
    if dist.is_initialized():
        dist.destroy_process_group()
