import torch
import torch.distributed as dist

from comm import get_rank


def seed_everything(seed):
    torch.manual_seed(seed + get_rank())


def main():
    torch.manual_seed(7 + get_rank())
    dist.init_process_group("gloo")


if __name__ == "__main__":
    main()
