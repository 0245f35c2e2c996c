import os

import torch.distributed as dist
import wandb


def create_run(project):
    is_main = not dist.is_initialized() or dist.get_rank() == 0
    if not is_main:
        return None
    return wandb.init(project=project)


def create_by_launcher(project):
    is_main = int(os.environ.get("RANK", "0")) == 0 if not dist.is_initialized() else dist.get_rank() == 0
    if not is_main:
        return None
    return wandb.init(project=project)


def main():
    dist.init_process_group("gloo")
    return create_run("p")


def other():
    run = create_by_launcher("p")
    dist.init_process_group("gloo")
    return run
