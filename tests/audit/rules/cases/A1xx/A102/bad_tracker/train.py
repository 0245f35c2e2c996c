import torch.distributed as dist
import wandb

from comm import is_main_process


def main():
    if is_main_process():
        wandb.init(project="operators")
    dist.init_process_group("gloo")


if __name__ == "__main__":
    main()
