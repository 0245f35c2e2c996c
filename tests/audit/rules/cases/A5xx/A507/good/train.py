import os

import torch.distributed as dist
import wandb


def get_rank():
    return dist.get_rank() if dist.is_initialized() else 0


def early():
    if int(os.environ["RANK"]) == 0:
        wandb.init(project="by the launcher's variable")


def main():
    early()
    dist.init_process_group("nccl")
    if get_rank() == 0:
        wandb.init(project="flow")


if __name__ == "__main__":
    main()
