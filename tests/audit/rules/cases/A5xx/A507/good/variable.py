import os

import torch.distributed as dist
import wandb


def get_rank():
    if dist.is_initialized():
        return dist.get_rank()
    return int(os.environ.get("RANK", 0))


def main():
    if get_rank() == 0:
        wandb.init(project="flow")
    dist.init_process_group("nccl")


if __name__ == "__main__":
    main()
