import os

import torch.distributed as dist
import wandb


def main():
    if int(os.environ["RANK"]) != 0:
        os.environ["WANDB_MODE"] = "disabled"
    dist.init_process_group("nccl")
    wandb.init(project="flow")


if __name__ == "__main__":
    main()
